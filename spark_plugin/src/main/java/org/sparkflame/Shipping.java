package org.sparkflame;

import java.io.File;
import java.nio.file.Files;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ships the finished recordings of a local folder, oldest first, to each destination, and what other JVMs left beside
 * them. What cannot be shipped stays there until the next attempt; a destination does not wait for another one. One
 * thread at a time.
 */
final class Shipping {
    private static final Logger LOG = LoggerFactory.getLogger("org.sparkflame");
    private final LocalFolder folder;
    private final List<Destination> destinations;
    private final ShippingTotals totals;
    private final HadoopUser user;
    private final Trouble leftoverTrouble = new Trouble(LOG);
    private boolean isFirst = true;
    private long droppedBefore;
    private volatile boolean abandoned;

    /** @param destinations none to leave the recordings where they are */
    Shipping(LocalFolder folder, List<Destination> destinations, ShippingTotals totals, HadoopUser user) {
        this.folder = folder;
        this.destinations = destinations;
        this.totals = totals;
        this.user = user;
        droppedBefore = folder.dropped();
    }

    private interface Work {
        void run() throws Exception;
    }

    private void asUser(Work work) throws Exception {
        user.run(() -> {
            work.run();
            return null;
        });
    }

    /** For people. */
    String target() {
        return isLocal() ? folder.toString()
                : destinations.stream().map(each -> each.shipper.target()).collect(Collectors.joining(" and "));
    }

    boolean isLocal() {
        return destinations.isEmpty();
    }

    boolean hasWaiting() {
        return !isLocal() && folder.oldest() != null;
    }

    /** The folder is another's from now on; a shipment that hangs may go on, but changes nothing there. Any thread. */
    void abandon() {
        abandoned = true;
    }

    boolean isAbandoned() {
        return abandoned;
    }

    /** The JVM ends: no pause after an error goes on. */
    void hurry() {
        destinations.forEach(each -> each.shipper.hurry());
    }

    /** False: a target cannot be written to now; the reason is logged. */
    boolean open() {
        boolean works = true;
        for (Destination destination : destinations) {
            try {
                asUser(destination.shipper::open);
            } catch (Throwable e) {
                works = false;
                destination.trouble.tell("cannot write to " + destination.shipper.target() + ", recordings stay in " + folder
                        + " until then", e);
            }
        }
        return works;
    }

    /** False: some wait; the reason is logged. */
    boolean ship() {
        boolean all = true;
        for (Destination destination : destinations) {
            all &= shipTo(destination);
        }
        countDropped();
        if (all) {
            totals.waitingSince.set(0);
        }
        return all;
    }

    private boolean shipTo(Destination destination) {
        File recording = firstFor(destination);
        if (recording != null && !destination.shipper.isDue()) {
            return false;
        }
        try {
            for (; recording != null && !abandoned; recording = firstFor(destination)) {
                shipOne(destination, recording);
            }
            return true;
        } catch (Throwable e) {
            destination.trouble.tell("cannot write to " + destination.shipper.target() + ", recordings wait in " + folder, e);
            return false;
        }
    }

    /** The oldest recording that it does not have; null: none. */
    private File firstFor(Destination destination) {
        return folder.oldest(recording -> !destination.has(recording));
    }

    private void shipOne(Destination destination, File recording) throws Exception {
        if (Files.notExists(recording.toPath())) {
            LOG.warn("sparkflame: {} has vanished before it was shipped", recording);
            folder.drop(recording);
            return;
        }
        totals.waitingSince.compareAndSet(0, System.currentTimeMillis());
        asUser(() -> count(destination.ship(recording), recording));
        if (abandoned) {
            return;
        }
        if (destinations.stream().allMatch(each -> each.has(recording))) {
            folder.delete(recording);
        }
        destination.trouble.isOver("recordings go to " + destination.shipper.target() + " again");
    }

    private void count(boolean isTaken, File recording) {
        if (isTaken) {
            totals.shipped(recording.length());
        } else {
            totals.dropped.incrementAndGet();
        }
    }

    private void countDropped() {
        long dropped = folder.dropped();
        totals.dropped.addAndGet(dropped - droppedBefore);
        droppedBefore = dropped;
        List<File> waiting = folder.waiting();
        destinations.forEach(each -> each.retain(waiting));
    }

    /**
     * First in all folders of this machine, later in that of this application, where executors may be killed.
     *
     * @param goesOn asked before each recording
     */
    void shipLeftovers(BooleanSupplier goesOn) {
        if (isLocal() || !destinations.stream().allMatch(Destination::takesLeftovers)) {
            return;
        }
        long before = totals.objects.get();
        boolean everywhere = isFirst;
        isFirst = false;
        try {
            folder.leftovers().ship(everywhere, goesOn, (recording, relative, details) -> asUser(() -> {
                for (Destination destination : destinations) {
                    count(destination.shipLeftover(recording, relative, details), recording);
                }
            }));
            leftoverTrouble.isOver("recordings of other executors are shipped again");
        } catch (Throwable e) {
            leftoverTrouble.tell("recordings that other executors left on this machine cannot be shipped", e);
        }
        destinations.forEach(Destination::forgetOthers);
        long shipped = totals.objects.get() - before;
        if (shipped > 0) {
            LOG.info("sparkflame: {} recordings that other executors left on this machine were shipped", shipped);
        }
    }

    void close() {
        for (Destination destination : destinations) {
            try {
                asUser(destination.shipper::close);
            } catch (Throwable e) {
                destination.trouble.tell("the end of " + destination.shipper.target() + " may be missing", e);
            }
        }
        if (!isLocal() && !abandoned) {
            folder.deleteIfEmpty();
        }
    }
}
