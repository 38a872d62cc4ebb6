package org.sparkflame;

import java.io.IOException;
import java.security.PrivilegedExceptionAction;
import org.apache.hadoop.security.UserGroupInformation;

/** Whoever made this, to Hadoop's file systems. New threads do not inherit it on the newest Java. */
final class HadoopUser {
    private final UserGroupInformation user = current();

    private static UserGroupInformation current() {
        try {
            return UserGroupInformation.getCurrentUser();
        } catch (IOException | RuntimeException | LinkageError e) {
            return null;
        }
    }

    <T> T run(PrivilegedExceptionAction<T> action) throws Exception {
        return user == null ? action.run() : user.doAs(action);
    }
}
