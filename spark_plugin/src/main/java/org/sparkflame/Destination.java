package org.sparkflame;

import java.io.File;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A place to which recordings go, and which of those that wait it has already. One thread at a time. */
final class Destination {
    private static final Logger LOG = LoggerFactory.getLogger("org.sparkflame");
    final Shipper shipper;
    /** Its own recordings cannot be written there. */
    final Trouble trouble = new Trouble(LOG);
    private final BiFunction<String, String, Shipper> elsewhere;
    private final Trouble refusals = new Trouble(LOG);
    private final Map<String, Shipper> others = new HashMap<>();
    private final Set<File> shipped = new HashSet<>();

    /**
     * @param elsewhere gives the shipper for another JVM's recordings, by their folder relative to the output folder
     *     and by what their claim says about them; null to leave what others left
     */
    Destination(Shipper shipper, BiFunction<String, String, Shipper> elsewhere) {
        this.shipper = shipper;
        this.elsewhere = elsewhere;
    }

    boolean takesLeftovers() {
        return elsewhere != null;
    }

    boolean has(File recording) {
        return shipped.contains(recording);
    }

    /** False: it was refused for good. */
    boolean ship(File recording) throws Exception {
        boolean taken = give(shipper, recording);
        shipped.add(recording);
        return taken;
    }

    /** The same for one that another JVM left. */
    boolean shipLeftover(File recording, String relative, String details) throws Exception {
        return give(others.computeIfAbsent(relative + "\n" + details, key -> elsewhere.apply(relative, details)), recording);
    }

    /** The shippers of others hold connections to what they may never need again. */
    void forgetOthers() {
        others.clear();
    }

    private boolean give(Shipper to, File recording) throws Exception {
        try {
            to.ship(recording);
            refusals.isOver("recordings are accepted by " + to.target() + " again");
            return true;
        } catch (Refused e) {
            refusals.tell("a recording is dropped, " + to.target() + " refuses it", e);
            return false;
        }
    }

    /** Those and no others wait. */
    void retain(List<File> waiting) {
        shipped.retainAll(waiting);
    }
}
