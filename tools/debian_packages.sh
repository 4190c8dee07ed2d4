# shellcheck shell=bash
# Sourced by bash scripts: installs the Debian packages that they need and that are missing.

# have_apt: is this a system whose packages install_packages can install?
have_apt() {
  command -v dpkg-query >/dev/null && command -v apt-get >/dev/null
}

# install_packages "PACKAGE: WHY"...
# Installs those that are missing, with sudo when not root; asks first when a person is at the terminal. Returns
# non-zero, with a reason on standard error, when one could not be installed. All output goes to standard error.
install_packages() {
  local names=("${@%%:*}") installed need missing=()
  installed=$(dpkg-query --show --showformat='${Package} ${db:Status-Status}\n' "${names[@]}" 2>/dev/null)
  for need in "$@"; do
    [[ $'\n'$installed$'\n' == *$'\n'"${need%%:*} installed"$'\n'* ]] || missing+=("$need")
  done
  ((${#missing[@]})) || return 0

  {
    echo "These Debian packages are missing:"
    printf '  %s\n' "${missing[@]}"
    names=("${missing[@]%%:*}")
    local as_root=(env)
    if ((EUID != 0)); then
      command -v sudo >/dev/null || {
        echo "There is no sudo here. As root, run: apt-get install ${names[*]}"
        return 1
      }
      as_root=(sudo env)
    fi

    if [[ -t 0 && -t 2 ]]; then
      local answer
      read -r -p "Install them with ${as_root[0]/env/}${as_root[1]:+ }apt-get? [Y/n] " answer
      [[ $answer == [Nn]* ]] && return 1
    else
      as_root+=(DEBIAN_FRONTEND=noninteractive)
    fi
    # A stale or half-broken list of sources may still hold what is needed: install says if not.
    "${as_root[@]}" apt-get -q update || echo "apt-get update failed; trying to install nevertheless."
    "${as_root[@]}" apt-get -q -y --no-install-recommends -o DPkg::Lock::Timeout=300 install "${names[@]}" || {
      echo "Could not install: ${names[*]}"
      return 1
    }
  } >&2
}
