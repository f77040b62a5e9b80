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

      # A command, and not a build: npm installs the locked packages when it first runs. Their Postgres expects the C
      # library where NixOS has none, so the embedded one is Nix's.
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
