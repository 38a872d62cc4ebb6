#!/bin/sh
# Installs what building and testing need on Debian 12: only what is missing, without questions.
# With `aarch64`, also what building for that architecture and trying it need.
# As root or through sudo; when all is there it takes no time and needs no network.
set -eu

missing=""

# need_command COMMAND PACKAGE: some machines have the command from elsewhere, which is as good.
need_command() {
    command -v "$1" > /dev/null 2>&1 || missing="$missing $2"
}

need_package() {
    for package in "$@"; do
        case "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null || true)" in
        installed) ;;
        *) missing="$missing $package" ;;
        esac
    done
}

need_command gcc gcc
need_command make make
need_command git git
need_command python3 python3
need_command meson meson
need_command ninja ninja-build
need_command pkg-config pkg-config
need_command nm binutils
need_command dpkg-shlibdeps dpkg-dev
need_command clang clang
need_command clang-format clang-format
need_command clang-tidy clang-tidy
need_command node nodejs
need_command npm npm
need_command chromium chromium
need_command jfr openjdk-17-jdk-headless
need_command mvn maven
need_command groff groff-base
need_command zsh zsh
need_command fish fish
need_command setarch util-linux
need_command ssh openssh-client
# Where installing it would start a service, the test that needs it is left out.
[ -d /run/systemd/system ] || need_command /usr/sbin/sshd openssh-server
python3 -c 'import venv, ensurepip' 2> /dev/null || missing="$missing python3-venv"
need_package libc6-dev zlib1g-dev libzstd-dev liblz4-dev libxxhash-dev libsnappy1v5 libdeflate-dev libisal-dev libpcre2-dev \
    libmicrohttpd-dev libsqlite3-dev libgnutls28-dev libclang-rt-14-dev libcurl4 ca-certificates fonts-dejavu-core

if [ "${1:-}" = aarch64 ]; then
    need_command aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu
    need_command qemu-aarch64-static qemu-user-static
    need_package libc6-dev-arm64-cross
fi

# Later packages of the same machine may have moved on since its list was read, so the list is read again.
if [ -n "$missing" ]; then
    echo "installing:$missing"
    as_root=""
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo > /dev/null 2>&1 || { echo "not root and no sudo: install$missing" >&2; exit 1; }
        as_root="sudo -n"
    fi
    attempt=1
    until $as_root apt-get update -q < /dev/null &&
        $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends \
            -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 $missing < /dev/null; do
        [ "$attempt" -lt 3 ] || { echo "could not install$missing" >&2; exit 1; }
        attempt=$((attempt + 1))
        sleep 5
    done
fi

exec "$(dirname "$0")/install_node_packages.sh" viewer tests/browser
