#!/usr/bin/env bash
# Runs quickstart and check on a machine that has nothing: a minimal Debian bookworm in a folder, entered by chroot.
#
#   tools/fresh_machine.sh [--folder DIR] [--only-packages] [--keep]
#
# This machine's apt, pip and certificate settings are copied in, the committed tree is cloned, and both commands
# run there as root without standard input. Prints minutes and megabytes. Needs root and debootstrap.
set -euo pipefail
source_tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

folder=$source_tree/build/fresh_machine
only_packages=no
keep=no
while (($# > 0)); do
  case $1 in
    --folder)
      folder=$2
      shift
      ;;
    --only-packages) only_packages=yes ;;
    --keep) keep=yes ;;
    *)
      sed -n '2,8s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
      exit 2
      ;;
  esac
  shift
done

fail() {
  echo "fresh_machine: $*" >&2
  exit 1
}
[[ $(id -u) == 0 ]] || fail "needs root: it enters a folder by chroot"
command -v debootstrap >/dev/null || fail "needs debootstrap: apt-get install debootstrap"
[[ ! -e $folder ]] || fail "$folder exists; remove it or give another --folder"

root=$folder/root
mkdir -p "$root"
log=$folder/log.txt

# inside COMMAND...: runs in the new machine with a plain environment and this machine's pip settings.
inside() {
  local name settings=()
  for name in $(compgen -e | grep -E '^(PIP_|https?_proxy$|no_proxy$|SSL_CERT_|REQUESTS_CA_)'); do
    settings+=("$name=${!name}")
  done
  chroot "$root" /usr/bin/env -i HOME=/root LANG=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin "${settings[@]}" "$@"
}

cleanup() {
  if mountpoint -q "$root/proc"; then umount -l "$root/proc"; fi
  if [[ $keep == no ]]; then rm -rf --one-file-system "$root"; fi
}
trap cleanup EXIT

# The mirror and keys that this machine's own apt uses.
mirror() {
  apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 'Codename: bookworm' 2>/dev/null | head -n 1
}

copy_settings() {
  rm -rf "$root/etc/apt"
  cp -a /etc/apt "$root/etc/apt"
  local name
  for name in pip.conf resolv.conf hosts; do
    if [[ -e /etc/$name ]]; then cp -L "/etc/$name" "$root/etc/$name"; fi
  done
  mkdir -p "$root/etc/ssl/certs" "$root/usr/local/share/ca-certificates"
  if [[ -e /etc/ssl/certs/ca-certificates.crt ]]; then
    cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
  fi
  cp -a /usr/local/share/ca-certificates/. "$root/usr/local/share/ca-certificates/"
}

# timed NAME COMMAND...: output goes to the log, its steps to the terminal; the minutes are kept for the report.
report=()
timed() {
  local name=$1 began=$SECONDS code=0
  shift
  echo "== $name"
  "$@" 2>&1 </dev/null | tee -a "$log" | grep -E --line-buffered '^(\[step|E: |[0-9]+ passed|quickstart: |check: )' || code=${PIPESTATUS[0]}
  report+=("$(printf '%-28s %5.1f min %s' "$name" "$(awk "BEGIN { print ($SECONDS - $began) / 60 }")" \
    "$([[ $code == 0 ]] && echo ok || echo "failed, exit code $code")")")
  return "$code"
}

megabytes() { du -sm --one-file-system "$1" | cut -f 1; }

site=$(mirror)
[[ -n $site ]] || fail "apt on this machine knows no bookworm mirror; run apt-get update"
timed "minimal bookworm" debootstrap --variant=minbase --include=ca-certificates,git bookworm "$root" "$site"
bare=$(megabytes "$root")
copy_settings
mount -t proc proc "$root/proc"
timed "apt-get update" inside apt-get update -q

git clone -q --no-hardlinks "$source_tree" "$root/opt/tilewright"
failed=0
if [[ $only_packages == yes ]]; then
  timed "packages" inside sh -c 'cd /opt/tilewright && apt-get install -y -q --no-install-recommends $(sed "s/#.*//" tools/setup/packages.txt)' || failed=1
else
  timed "quickstart" inside sh -c 'cd /opt/tilewright && ./quickstart' || failed=1
  timed "quickstart again" inside sh -c 'cd /opt/tilewright && ./quickstart' || failed=1
  timed "check" inside sh -c 'cd /opt/tilewright && ./check' || failed=1
fi

printf '%s\n' "${report[@]}"
echo "megabytes: bare system $bare, with everything $(megabytes "$root"), of which the clone $(megabytes "$root/opt/tilewright")"
echo "full log: $log"
exit "$failed"
