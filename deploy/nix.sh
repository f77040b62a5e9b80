# Start script of the package in flake.nix, which sets $sources to the checkout in the Nix store.
state="${XDG_STATE_HOME:-$HOME/.local/state}/waybill"
name="$(basename "$sources")"
copy="$state/${name:0:32}"
export WAYBILL_DATA="${WAYBILL_DATA:-$state/data}"

# npm installs beside the sources, and the store is read-only. The service therefore runs from a copy for each release.
if [ ! -e "$copy" ]; then
  mkdir -p "$state"
  cp -R --no-preserve=mode "$sources" "$copy.$$"
  # One rename creates the copy. If another command was first, its copy is used.
  mv -nT "$copy.$$" "$copy" || [ -e "$copy" ]
  rm -rf "$copy.$$"
fi

if [ "$#" -eq 0 ]; then set -- start; fi
exec node "$copy/bin/waybill.mjs" "$@"
