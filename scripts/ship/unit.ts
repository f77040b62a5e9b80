import { type ChildProcess, spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import * as fs from "node:fs/promises"
import { createServer } from "node:net"
import { join } from "node:path"
import { freePort } from "../../test/support/process/service.ts"
import { checkout } from "./checkout.ts"
import { debian } from "./debian.ts"
import { exercise, isReady } from "./exercise.ts"
import { postgres } from "./postgres.ts"
import type { Run } from "./Run.ts"
import { attempt, demand, has, run, secondsOf, until } from "./Shell.ts"

const GUIDE = "docs/operating/install.md"
/** TimeoutStopSec of the unit. */
const SECONDS_TO_STOP = 45
/** Length of the boot log in an error. */
const KEPT_CHARS = 4_000
/** CAP_NET_BIND_SERVICE only. */
const CAPABILITIES = "0000000000000400"

export const unit = async (task: Run): Promise<void> => {
  const missing = ["systemd-nspawn", "debootstrap", "nsenter"].filter((command) => !has(command))
  if (missing.length > 0) return task.leftOut("the unit", `missing: ${missing.join(", ")}`)
  if (process.getuid?.() !== 0) return task.leftOut("the unit", "requires root to boot a machine")
  const machine = await boot(task)
  await install(machine)
  task.holds(`the commands of ${GUIDE} install it`)
  const base = await configure(task, machine)
  await machine.type("systemctl enable --now waybill")
  const ready = () => until("/readyz answers", 90, () => isReady(base))
  await ready().catch(async (error: Error) => {
    throw new Error(`${error.message}\n${await machine.type("journalctl --unit waybill --output cat --lines 50")}`)
  })
  task.holds("it starts and becomes ready")
  await examine(task, machine)
  await until("the journal has the first key", 30, async () =>
    / wb_\w+/u.test(await machine.type("journalctl --unit waybill --output cat")) ? true : undefined,
  )
  await exercise(base, (...args) => machine.type(["waybill", ...args].join(" ")))
  task.holds(
    "the journal has the first key; /usr/local/bin/waybill creates an account and a key; a mail is kept in the sandbox",
  )
  await restarts(task, machine, ready)
  await refuses(task, machine)
}

interface Machine {
  readonly root: string
  readonly type: (text: string) => Promise<string>
}

const boot = async (task: Run): Promise<Machine> => {
  const root = await debian(task)
  const options = ["--quiet", "--register=no", "--keep-unit", "--resolv-conf=copy-host", "--boot"]
  const child = spawn("systemd-nspawn", ["--directory", root, ...options], { stdio: ["ignore", "pipe", "pipe"] })
  let printed = ""
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => (printed = (printed + chunk.toString()).slice(-KEPT_CHARS)))
  task.ends.defer(() => shutDown(child))
  const inside = await until("systemd is up", 120, async () => {
    const words = await insideOf(child)
    const { stdout } = await attempt([...words, "systemctl", "is-system-running"])
    return ["running", "degraded"].includes(stdout) ? words : undefined
  }).catch((error: Error) => Promise.reject(new Error(`${error.message}\n${printed}`)))
  return { root, type: (text) => run([...inside, "bash", "-euo", "pipefail", "-c", text]) }
}

/**
 * Returns the command prefix that enters the machine. Looked up at every call, because the first child of nspawn is not
 * the machine's init.
 */
const insideOf = async ({ pid }: ChildProcess) => {
  const children = await fs.readFile(`/proc/${pid}/task/${pid}/children`, "utf8")
  const target = /^\d*/u.exec(children)?.[0] ?? ""
  return ["nsenter", "--target", target, "--mount", "--uts", "--ipc", "--pid", "--root", "--wd", "--"] as const
}

/** Stops the machine. nspawn turns SIGTERM into an orderly shutdown. */
const shutDown = async (child: ChildProcess): Promise<void> => {
  const ended = once(child, "exit")
  if (child.exitCode === null && child.kill("SIGTERM")) await ended
}

const install = async ({ root, type }: Machine): Promise<void> => {
  await checkout(join(root, "opt/waybill"))
  const [, commands = ""] =
    /^```sh elsewhere\n(useradd --system [^]*?)^```$/mu.exec(await fs.readFile(GUIDE, "utf8")) ?? []
  const [clone = "", ...others] = /^git clone .*$/mu.exec(commands) ?? []
  demand(clone !== "" && others.length === 0, `${GUIDE} has no commands that start with useradd`)
  await type(commands.replace(clone, ":"))
}

const configure = async (task: Run, { root }: Machine): Promise<string> => {
  const port = await freePort()
  const settings = {
    DATABASE_URL: await postgres(task, "unit"),
    WAYBILL_INSTANCE_KEY: randomBytes(32).toString("base64"),
    BASE_URL: `http://127.0.0.1:${port}`,
    PORT: port,
    METRICS_PORT: await freePort(),
    SMTP_PORT: await freePrivilegedPort(),
  }
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`)
  await fs.writeFile(join(root, "etc/waybill/environment"), lines.join(""))
  return settings.BASE_URL
}

/** Returns a free port below 1024, which the service can open only with its capability. */
const freePrivilegedPort = async (port = 600): Promise<number> => {
  const server = createServer().listen(port, "127.0.0.1")
  const listens = await once(server, "listening").then(
    () => true,
    () => false,
  )
  server.close()
  return listens ? port : freePrivilegedPort(port + 1)
}

const pidOf = ({ type }: Machine) => type("systemctl show --property MainPID --value waybill")

const examine = async (task: Run, machine: Machine): Promise<void> => {
  demand((await machine.type("systemd-analyze verify waybill.service 2>&1")) === "", "systemd-analyze reports problems")
  const pid = await pidOf(machine)
  const status = await machine.type(`cat /proc/${pid}/status`)
  const uid = await machine.type("id --user waybill")
  demand(new RegExp(`^Uid:\\t${uid}\\t`, "mu").test(status), "it does not run as waybill")
  demand(/^NoNewPrivs:\t1$/mu.test(status), "it can gain privileges")
  for (const set of ["CapEff", "CapBnd"])
    demand(new RegExp(`^${set}:\\t${CAPABILITIES}$`, "mu").test(status), `it has other capabilities:\n${status}`)
  const mounts = await machine.type(`cat /proc/${pid}/mountinfo`)
  demand(/^(?:\S+ ){4}\/ ro,/mu.test(mounts), "it can write to the system")
  const exposure = await machine.type("systemd-analyze security --no-pager waybill.service | tail -n 1")
  const [, level = ""] = /: ([\d.]+ \w+)/u.exec(exposure) ?? []
  task.holds(`systemd-analyze verify reports no problems; the exposure is ${level}`)
}

const restarts = async (task: Run, machine: Machine, ready: () => Promise<true>): Promise<void> => {
  const before = await pidOf(machine)
  await machine.type(`kill -KILL ${before}`)
  await until("systemd starts it again", 30, async () =>
    ["0", before].includes(await pidOf(machine)) ? undefined : true,
  )
  await ready()
  await machine.type("systemctl restart waybill")
  await ready()
  task.holds("it restarts after SIGKILL and systemctl restart")
  const seconds = await secondsOf(() => machine.type("systemctl stop waybill"))
  const result = await machine.type("systemctl show --property Result --value waybill")
  demand(result === "success" && seconds < SECONDS_TO_STOP, `it stopped with ${result}, in ${seconds.toFixed(0)} s`)
  task.holds("systemctl stop stops it in time and without an error")
}

/** Checks that a configuration error is not retried. */
const refuses = async (task: Run, machine: Machine): Promise<void> => {
  await machine.type("echo PORT=none >> /etc/waybill/environment; systemctl start waybill || true")
  await until("it fails", 30, async () =>
    (await machine.type("systemctl is-active waybill || true")) === "failed" ? true : undefined,
  )
  const code = await machine.type("systemctl show --property ExecMainStatus --value waybill")
  demand(code === "78", `with an invalid setting it exited with ${code}`)
  task.holds("with an invalid setting it exits with 78 and is not restarted")
}
