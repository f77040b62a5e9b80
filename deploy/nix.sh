# What the package of flake.nix does, which says before it where the checkout lies in the store: $sources.
state="${XDG_STATE_HOME:-$HOME/.local/state}/waybill"
name="$(basename "$sources")"
copy="$state/${name:0:32}"
export WAYBILL_DATA="${WAYBILL_DATA:-$state/data}"

# npm installs beside the sources, and the store is read-only: the service runs from a copy, one a release.
if [ ! -e "$copy" ]; then
  mkdir -p "$state"
  cp -R --no-preserve=mode "$sources" "$copy.$$"
  # By one rename; where another command was first, its copy is as good.
  mv -nT "$copy.$$" "$copy" || [ -e "$copy" ]
  rm -rf "$copy.$$"
fi

if [ "$#" -eq 0 ]; then set -- start; fi
exec node "$copy/bin/waybill.mjs" "$@"
