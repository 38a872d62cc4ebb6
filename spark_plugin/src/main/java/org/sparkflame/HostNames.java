package org.sparkflame;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** All names of this machine. Spark's own answer fails while an executor starts. */
final class HostNames {
    private HostNames() {
    }

    static Set<String> own() {
        Set<String> names = new TreeSet<>();
        Map<String, String> environment = System.getenv();
        for (String variable : new String[] {"SPARK_LOCAL_HOSTNAME", "SPARK_LOCAL_IP", "NM_HOST", "HOSTNAME"}) {
            if (environment.containsKey(variable)) {
                names.add(environment.get(variable));
            }
        }
        try {
            InetAddress address = InetAddress.getLocalHost();
            names.add(address.getHostName());
            names.add(address.getHostAddress());
            names.add(address.getCanonicalHostName());
        } catch (UnknownHostException e) {
            // the variables then have to do
        }
        return names;
    }
}
