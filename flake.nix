{
  description = "Waybill: transactional email whose truth is an event log on Postgres";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs =
    { self, nixpkgs }:
    let
      systems = [
        "aarch64-darwin"
        "aarch64-linux"
        "x86_64-darwin"
        "x86_64-linux"
      ];
      forEach = make: nixpkgs.lib.genAttrs systems (system: make nixpkgs.legacyPackages.${system});

      # npm installs beside the sources, and the store is read-only: the service runs from a copy of its own. The
      # Postgres of npm expects the C library where NixOS has none, so Nix brings its own unless DATABASE_URL names one.
      waybill =
        pkgs:
        pkgs.writeShellApplication {
          name = "waybill";
          runtimeInputs = [
            pkgs.coreutils
            pkgs.nodejs_24
            pkgs.postgresql_18
          ];
          text = ''
            state="''${XDG_STATE_HOME:-$HOME/.local/state}/waybill"
            sources="$state/${builtins.substring 0 32 (baseNameOf self.outPath)}"
            export WAYBILL_DATA="''${WAYBILL_DATA:-$state/data}"

            if [ ! -e "$sources" ]; then
              mkdir -p "$state"
              cp -R --no-preserve=mode "${self}" "$sources.$$"
              mv -T "$sources.$$" "$sources"
            fi

            if [ -z "''${DATABASE_URL:-}" ]; then
              cluster="$WAYBILL_DATA/postgres"
              sockets="$(mktemp -d)"
              if [ ! -e "$cluster/PG_VERSION" ]; then
                mkdir -p "$WAYBILL_DATA"
                initdb --pgdata "$cluster" --username waybill --auth peer --encoding UTF8 --no-locale >"$WAYBILL_DATA/initdb.log"
                printf 'waybill %s waybill\n' "$(id -un)" >"$cluster/pg_ident.conf"
                printf 'local all waybill peer map=waybill\n' >"$cluster/pg_hba.conf"
              fi
              pg_ctl --pgdata "$cluster" --log "$WAYBILL_DATA/postgres.log" \
                --options "-k $sockets -c listen_addresses=" --wait start >"$WAYBILL_DATA/pg_ctl.log"
              trap 'pg_ctl --pgdata "$cluster" --mode fast --wait stop >"$WAYBILL_DATA/pg_ctl.log"; rm -rf "$sockets"' EXIT
              export DATABASE_URL="postgres://waybill@localhost/postgres?host=$sockets"
            fi

            if [ "$#" -eq 0 ]; then set -- start; fi
            node "$sources/bin/waybill.mjs" "$@" &
            service=$!
            trap 'kill -TERM "$service" 2>/dev/null || true' INT TERM
            code=0
            wait "$service" || code=$?
            # A signal ends the wait, not the service.
            while kill -0 "$service" 2>/dev/null; do
              code=0
              wait "$service" || code=$?
            done
            exit "$code"
          '';
        };
    in
    {
      packages = forEach (pkgs: {
        default = waybill pkgs;
      });

      apps = forEach (pkgs: {
        default = {
          type = "app";
          program = "${waybill pkgs}/bin/waybill";
        };
      });

      devShells = forEach (pkgs: {
        default = pkgs.mkShell {
          packages = [
            pkgs.nodejs_24
            pkgs.postgresql_18
          ];
        };
      });
    };
}
