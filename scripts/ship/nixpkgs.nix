# Stand-in for nixpkgs where it cannot be fetched: only what flake.nix uses. It keeps the text of a command, so that the
# command can run without a build. flake.ts inserts the two paths.
{
  outputs =
    { self }:
    let
      genAttrs =
        names: make:
        builtins.listToAttrs (
          map (name: {
            inherit name;
            value = make name;
          }) names
        );
      toolsOf = system: {
        coreutils = "/usr";
        nodejs_24 = "@node@";
        postgresql_18 = "@postgres@";
        mkShell = attributes: derivation (attributes // { inherit system; name = "shell"; builder = "/bin/sh"; });
        writeShellApplication =
          {
            name,
            runtimeInputs,
            text,
          }:
          derivation {
            inherit name system text;
            builder = "/bin/sh";
          }
          // {
            text = ''
              #!/usr/bin/env bash
              set -o errexit
              set -o nounset
              set -o pipefail
              export PATH="${builtins.concatStringsSep ":" (map (each: "${each}/bin") runtimeInputs)}:$PATH"
            '' + text;
          };
      };
    in
    {
      lib = { inherit genAttrs; };
      legacyPackages = genAttrs [
        "aarch64-darwin"
        "aarch64-linux"
        "x86_64-darwin"
        "x86_64-linux"
      ] toolsOf;
    };
}
