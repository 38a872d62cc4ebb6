#include "base/redaction.h"

#include "unit_test.h"

static const char *redacted(const char *text)
{
    static struct text_builder room;
    text_builder_release(&room);
    text_builder_init(&room, 10000);
    return redaction_apply(text_of(text), &room) ? text_builder_c_string(&room) : text;
}

TEST(hides_values_of_secret_names)
{
    CHECK_TEXT(redacted("password=hunter2"), "password=*********(redacted)");
    CHECK_TEXT(redacted("a --conf spark.my.Token=x.y-z b"), "a --conf spark.my.Token=*********(redacted) b");
    CHECK_TEXT(redacted("{\"clientSecret\": \"a b\", \"n\": 1}"),
               "{\"clientSecret\": \"*********(redacted)\", \"n\": 1}");
    CHECK_TEXT(redacted("-Dfs.s3a.access.key=AKIA, next"), "-Dfs.s3a.access.key=*********(redacted), next");
    CHECK_TEXT(redacted("--db-password s3cr3t --table t"), "--db-password *********(redacted) --table t");
    CHECK_TEXT(redacted("jdbc:x://h/db;user=u;password=p;ssl=true"),
               "jdbc:x://h/db;user=u;password=*********(redacted);ssl=true");
    CHECK_TEXT(redacted("credential : 'q'"), "credential : '*********(redacted)'");
    CHECK_TEXT(redacted("password=a token=b"), "password=*********(redacted) token=*********(redacted)");
}

TEST(hides_passwords_of_addresses)
{
    CHECK_TEXT(redacted("get https://me:pw@host/x now"), "get https://me:*********(redacted)@host/x now");
    CHECK_TEXT(redacted("hdfs://host:8020/a@b"), "hdfs://host:8020/a@b");
}

TEST(hides_keys_of_clouds)
{
    static const char *const names[] = {
        "fs.azure.account.key.mine.dfs.core.windows.net",
        "fs.azure.sas.container.mine.blob.core.windows.net",
        "spark.hadoop.fs.s3a.secret.key",
        "fs.s3a.access.key",
        "fs.s3a.session.token",
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "fs.gs.auth.service.account.private.key",
        "ssl.key.passphrase",
        "my.private-key",
        "DD_API_KEY",
        "AccountKey",
    };
    for (size_t i = 0; i < COUNT_OF(names); i++)
        CHECK(redaction_hides(text_of(names[i])));
    CHECK(!redaction_hides(TEXT("spark.sql.shuffle.partitions")));
    CHECK(!redaction_hides(TEXT("PWD")));
    CHECK(!redaction_hides(TEXT("user.signal")));
    CHECK_TEXT(redacted("https://x.blob.core.windows.net/c?sv=1&sig=abc%3D&se=2"),
               "https://x.blob.core.windows.net/c?sv=1&sig=*********(redacted)&se=2");
}

TEST(hides_passwords_of_databases)
{
    CHECK_TEXT(redacted("jdbc:oracle:thin:scott/tiger@//host:1521/x"),
               "jdbc:oracle:thin:scott/*********(redacted)@//host:1521/x");
    CHECK_TEXT(redacted("jdbc:mysql://u:p@ss@host/db?useSSL=true"),
               "jdbc:mysql://u:*********(redacted)@host/db?useSSL=true");
    CHECK_TEXT(redacted("jdbc:sqlserver://h;user=u;pwd=p"),
               "jdbc:sqlserver://h;user=u;pwd=*********(redacted)");
    CHECK_TEXT(redacted("jdbc:oracle:thin:@host"), "jdbc:oracle:thin:@host");
}

TEST(leaves_other_texts_alone)
{
    static const char *const texts[] = {"",
                                        "=",
                                        ":",
                                        "password",
                                        "password=",
                                        "--password",
                                        "--token ",
                                        "://",
                                        "://a:b",
                                        "Starting task 1.0 in stage 0.0 (TID 1)",
                                        "key=value; other: thing",
                                        "password=*********(redacted)"};
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        CHECK(redacted(texts[i]) == texts[i]);
}
