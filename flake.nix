{
  description = "Waybill: self-hosted transactional email on Postgres, with a complete history of every message";

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

      # A start script instead of a build: npm installs the locked packages at its first run. The Postgres from npm needs
      # the C library in a place where NixOS has none, so the embedded Postgres comes from Nix.
      waybill =
        pkgs:
        pkgs.writeShellApplication {
          name = "waybill";
          runtimeInputs = [
            pkgs.coreutils
            pkgs.nodejs_24
          ];
          text = ''
            export WAYBILL_POSTGRES="''${WAYBILL_POSTGRES:-${pkgs.postgresql_18}}"
            sources="${self}"
          ''
          + builtins.readFile ./deploy/nix.sh;
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
          WAYBILL_POSTGRES = "${pkgs.postgresql_18}";
        };
      });
    };
}
