"""A Maven repository in a folder, with the plugin's jar: for `--packages` and `--repositories` of spark-submit."""

import hashlib
import time

from contents import LICENSE, SUMMARY, VERSION, date

GROUP, ARTIFACT = "org.sparkflame", "sparkflame-plugin"
# No dependencies: what the plugin needs, Spark has.
POM = f"""<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>{GROUP}</groupId>
  <artifactId>{ARTIFACT}</artifactId>
  <version>{VERSION}</version>
  <packaging>jar</packaging>
  <name>{ARTIFACT}</name>
  <description>{SUMMARY}</description>
  <licenses>
    <license>
      <name>{LICENSE}</name>
      <url>https://www.apache.org/licenses/LICENSE-2.0</url>
    </license>
  </licenses>
</project>
"""
METADATA = """<?xml version="1.0" encoding="UTF-8"?>
<metadata>
  <groupId>{group}</groupId>
  <artifactId>{artifact}</artifactId>
  <versioning>
    <latest>{version}</latest>
    <release>{version}</release>
    <versions>
      <version>{version}</version>
    </versions>
    <lastUpdated>{date}</lastUpdated>
  </versioning>
</metadata>
"""


def write(path, data):
    """With the digests that Maven and Ivy check."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    for algorithm in ("md5", "sha1", "sha256"):
        path.with_name(f"{path.name}.{algorithm}").write_text(hashlib.new(algorithm, data, usedforsecurity=False).hexdigest())
    return path


def make(build, out):
    artifact = out / "maven" / GROUP.replace(".", "/") / ARTIFACT
    stamp = time.strftime("%Y%m%d%H%M%S", time.gmtime(date()))
    metadata = METADATA.format(group=GROUP, artifact=ARTIFACT, version=VERSION, date=stamp)
    return [write(artifact / "maven-metadata.xml", metadata.encode()),
            write(artifact / VERSION / f"{ARTIFACT}-{VERSION}.pom", POM.encode()),
            write(artifact / VERSION / f"{ARTIFACT}-{VERSION}.jar", build.plugin)]
