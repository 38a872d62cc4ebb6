package org.sparkflame;

import java.util.function.UnaryOperator;

/** The labels that all tasks of a stage share, from the local properties that Spark gives them. */
final class StageTexts {
    private final Redaction redaction;
    private final boolean hasDescriptions;

    /** @param hasDescriptions whether descriptions, which are often SQL text, are recorded */
    StageTexts(Redaction redaction, boolean hasDescriptions) {
        this.redaction = redaction;
        this.hasDescriptions = hasDescriptions;
    }

    String of(UnaryOperator<String> properties) {
        String tags = properties.apply("spark.job.tags");
        String description = properties.apply("spark.job.description");
        String query = properties.apply("sql.streaming.queryId");
        Labels labels = new Labels().add("group", redaction.of(properties.apply("spark.jobGroup.id")));
        if (hasDescriptions) {
            labels.add("description", redaction.of(query == null ? description : firstLine(description)));
        }
        labels.add("tags", redaction.of(ConnectTags.others(tags)));
        labels.add("session", ConnectTags.session(tags)).add("session_user", ConnectTags.user(tags));
        return labels.add("query", query).add("batch", properties.apply("streaming.sql.batchId")).toString();
    }

    /** The description of a micro-batch is the query's name, if it has one, and then lines of what other labels say. */
    private static String firstLine(String description) {
        if (description == null || description.startsWith("id = ")) {
            return null;
        }
        int end = description.indexOf('\n');
        return end < 0 ? description : description.substring(0, end);
    }
}
