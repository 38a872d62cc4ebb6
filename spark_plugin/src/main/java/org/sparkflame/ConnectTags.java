package org.sparkflame;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What Spark puts into the tags of a job by itself: the user and session of Spark Connect, as
 * SparkConnect_OperationTag_User_U_Session_UUID_Operation_UUID, where U may be empty or hold '_', and tags of sessions.
 */
final class ConnectTags {
    private static final String UUID = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}";
    private static final Pattern OPERATION =
            Pattern.compile("SparkConnect_OperationTag_User_(.*)_Session_(" + UUID + ")_Operation_(?:" + UUID + ")");
    private static final Pattern CONNECT = Pattern.compile("SparkConnect_SessionTag_User_.*_Session_" + UUID + "_Tag_(.*)");
    private static final Pattern SESSION = Pattern.compile("spark-session-" + UUID + "-thread-" + UUID + "-(.*)");
    private static final Pattern INTERNAL = Pattern.compile("spark-session-" + UUID + ".*|SparkConnect_.*");

    private ConnectTags() {
    }

    private static String group(String tags, int number) {
        for (String tag : tags == null ? new String[0] : tags.split(",")) {
            Matcher matcher = OPERATION.matcher(tag);
            if (matcher.matches()) {
                return matcher.group(number);
            }
        }
        return null;
    }

    static String user(String tags) {
        return group(tags, 1);
    }

    static String session(String tags) {
        return group(tags, 2);
    }

    /** The tags that users have given, separated by commas. */
    static String others(String tags) {
        List<String> names = new ArrayList<>();
        for (String tag : tags == null ? new String[0] : tags.split(",")) {
            Matcher connect = CONNECT.matcher(tag);
            Matcher session = SESSION.matcher(tag);
            if (connect.matches()) {
                names.add(connect.group(1));
            } else if (session.matches()) {
                names.add(session.group(1));
            } else if (!INTERNAL.matcher(tag).matches()) {
                names.add(tag);
            }
        }
        names.removeIf(name -> name.isEmpty() || name.startsWith("execution-root-id-"));
        return String.join(",", names);
    }
}
