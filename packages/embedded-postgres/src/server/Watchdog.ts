import { spawn } from "node:child_process"

/** How long a fast shutdown may take after the parent has ended, in tenths of a second, and then an immediate one. */
const FAST_SHUTDOWN_TENTHS = 100
const IMMEDIATE_SHUTDOWN_TENTHS = 30

/**
 * Reads a pipe whose other end only the parent holds, so that the pipe ends with the parent, however it dies. The first
 * line is the server's pid; a second line "done" means that the parent has stopped the server itself.
 */
const SCRIPT = `
lock=$1
shift
IFS= read -r pid || pid=
[ "$pid" = done ] && exit 0
IFS= read -r word && [ "$word" = done ] && exit 0
runs() { kill -0 "$pid" 2>/dev/null && [ -f "$lock" ]; }
wait_tenths() {
  left=$1
  while runs && [ "$left" -gt 0 ]; do sleep 0.1; left=$((left - 1)); done
}
if [ -n "$pid" ]; then
  kill -INT "$pid" 2>/dev/null
  wait_tenths ${FAST_SHUTDOWN_TENTHS}
  runs && kill -QUIT "$pid" 2>/dev/null
  wait_tenths ${IMMEDIATE_SHUTDOWN_TENTHS}
  runs && kill -KILL "$pid" 2>/dev/null
fi
[ $# -eq 0 ] || rm -rf -- "$@"
`

export interface Watchdog {
  readonly guard: (pid: number) => void
  readonly dismiss: () => void
}

/** Starts the watchdog. It runs before the server, so that the server is never unwatched. */
export const start = (postmasterFile: string, removeAfterwards: ReadonlyArray<string>): Watchdog => {
  const child = spawn("/bin/sh", ["-c", SCRIPT, "waybill-watchdog", postmasterFile, ...removeAfterwards], {
    cwd: "/",
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  })
  child.unref()
  // If the watchdog is killed, the parent still stops the server.
  child.on("error", () => undefined)
  child.stdin.on("error", () => undefined)
  return {
    guard: (pid) => void child.stdin.write(`${pid}\n`),
    dismiss: () => {
      if (!child.stdin.writableEnded) child.stdin.end("done\n")
    },
  }
}
