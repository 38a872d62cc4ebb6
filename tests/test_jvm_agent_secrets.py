"""A JVM's arguments are in its recordings, without secrets."""

import pytest

import jvm

SECRETS = {
    "fs.azure.account.key.mine.dfs.core.windows.net": "hushed-azure",
    "spark.hadoop.fs.s3a.secret.key": "hushed-s3a",
    "spark.hadoop.fs.s3a.session.token": "hushed-session",
    "fs.gs.auth.service.account.private.key": "hushed-google",
    "javax.net.ssl.keyPassphrase": "hushed-passphrase",
    "my.database": "jdbc:postgresql://host/db?user=me&password=hushed-jdbc&ssl=true",
    "other.database": "jdbc:mysql://me:hushed-address@host/db",
    "third.database": "jdbc:oracle:thin:me/hushed-oracle@//host:1521/x",
    "acme.pin7": "hushed-by-the-application",
    "some.note": "see card-4711hushed",
}


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    return jvm.compile_classes(tmp_path_factory.mktemp("classes"), "Sleeps")


@pytest.mark.parametrize("shape", ["", ",compact"])
def test_secrets_are_not_recorded(classes, tmp_path, shape):
    file = tmp_path / "a.jfr"
    options = [f"-D{key}={value}" for key, value in SECRETS.items()]
    options += ["-Dspark.redaction.regex=(?i)secret|acme\\.pin\\d", "-Dspark.redaction.string.regex=card-\\d+\\w*",
                "-Dopen.setting=plainly-there"]
    jvm.run_java(jvm.system_home(), classes, f"start,event=cpu,jfr{shape},file={file}", "Sleeps", "--password",
                 "hushed-argument", "https://me:hushed-url@host/", options=options)
    recording = file.read_bytes()
    assert recording.count(b"plainly-there") >= 2, "as an option and as a property"
    assert b"hushed" not in recording, [part[:40] for part in recording.split(b"hushed")[1:]]
    for kept in (b"user=me&password=*********(redacted)&ssl=true", b"jdbc:oracle:thin:me/*********(redacted)@//host"):
        assert kept in recording
    assert file.stat().st_mode & 0o777 == 0o600


def record(classes, file, extra, *options, arguments=()):
    """The recording's bytes, and the log."""
    result = jvm.run_java(jvm.system_home(), classes, f"start,event=cpu,jfr,file={file}{extra}", "Sleeps", *arguments,
                          options=options)
    return file.read_bytes(), result.stderr


def test_expressions_of_the_plugin(classes, tmp_path):
    """Executors have them in Spark's configuration only, from where the plugin passes them, beside those of the JVM."""
    recording, log = record(classes, tmp_path / "a.jfr", ",redact-keys=acme\\.pin\\d{1%2C3},redact-texts=card-\\d{4}-\\d{4}",
                            "-Dacme.pin42=hushed-key", "-Dother.key=hushed-property", "-Dspark.redaction.regex=other",
                            "-Dsome.note=see card-4711-4712 there", "-Dopen.setting=plainly-there")
    assert b"hushed" not in recording
    assert b"card-4711" not in recording and b"see *********(redacted) there" in recording
    assert b"plainly-there" in recording
    assert "cannot be translated" not in log


@pytest.mark.parametrize("place", ["argument", "property", "text"])
def test_expressions_that_cannot_be_used_hide_all(classes, tmp_path, place):
    extra, options = "", ["-Dacme.pin42=hushed-key", "-Dspark.executor.cores=4711"]
    if place == "argument":
        extra = ",redact-keys=(?!open).*pin"
    else:
        options.append(f"-Dspark.redaction{'.string' if place == 'text' else ''}.regex=(?!open).*pin")
    recording, log = record(classes, tmp_path / "a.jfr", extra, *options, arguments=["--pin", "hushed-argument"])
    assert b"hushed" not in recording, [part[:40] for part in recording.split(b"hushed")[1:]]
    assert b"acme.pin42" in recording and b"4711" in recording
    assert b"java.vm.version" in recording
    assert log.count("cannot be translated to a POSIX expression") == 1, log
