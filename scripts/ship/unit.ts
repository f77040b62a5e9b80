import { type ChildProcess, spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import * as fs from "node:fs/promises"
import { createServer } from "node:net"
import { join } from "node:path"
import { freePort } from "../../test/support/service.ts"
import { checkout } from "./checkout.ts"
import { debian } from "./debian.ts"
import { exercise, isReady } from "./exercise.ts"
import { postgres } from "./postgres.ts"
import type { Run } from "./run.ts"
import { attempt, demand, has, run, secondsOf, until } from "./shell.ts"

const GUIDE = "docs/operating/install.md"
/** TimeoutStopSec of the unit. */
const SECONDS_TO_STOP = 45
/** Of what a boot says, where it fails. */
const KEPT_CHARS = 4_000
/** CAP_NET_BIND_SERVICE, and no other. */
const CAPABILITIES = "0000000000000400"

export const unit = async (task: Run): Promise<void> => {
  const missing = ["systemd-nspawn", "debootstrap", "nsenter"].filter((command) => !has(command))
  if (missing.length > 0) return task.leftOut("the unit", `there is no ${missing.join(", no ")}`)
  if (process.getuid?.() !== 0) return task.leftOut("the unit", "only root can boot a machine for it")
  const machine = await boot(task)
  await install(machine)
  task.holds(`the commands of ${GUIDE} install it`)
  const base = await configure(task, machine)
  await machine.types("systemctl enable --now waybill")
  const ready = () => until("/readyz answers", 90, () => isReady(base))
  await ready().catch(async (error: Error) => {
    throw new Error(`${error.message}\n${await machine.types("journalctl --unit waybill --output cat --lines 50")}`)
  })
  task.holds("it starts, and is ready")
  await examine(task, machine)
  await until("the journal has the first key", 30, async () =>
    / wb_\w+/u.test(await machine.types("journalctl --unit waybill --output cat")) ? true : undefined,
  )
  await exercise(base, (...args) => machine.types(["waybill", ...args].join(" ")))
  task.holds("the journal has the first key, and /usr/local/bin/waybill makes an account and a key; a mail is captured")
  await restarts(task, machine, ready)
  await refuses(task, machine)
}

interface Machine {
  readonly root: string
  readonly types: (text: string) => Promise<string>
}

const boot = async (task: Run): Promise<Machine> => {
  const root = await debian(task)
  const options = ["--quiet", "--register=no", "--keep-unit", "--resolv-conf=copy-host", "--boot"]
  const child = spawn("systemd-nspawn", ["--directory", root, ...options], { stdio: ["ignore", "pipe", "pipe"] })
  let said = ""
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => (said = (said + chunk.toString()).slice(-KEPT_CHARS)))
  task.ends.defer(() => shutDown(child))
  const inside = await until("systemd is up", 120, async () => {
    const words = await insideOf(child)
    const { stdout } = await attempt([...words, "systemctl", "is-system-running"])
    return ["running", "degraded"].includes(stdout) ? words : undefined
  }).catch((error: Error) => Promise.reject(new Error(`${error.message}\n${said}`)))
  return { root, types: (text) => run([...inside, "bash", "-euo", "pipefail", "-c", text]) }
}

/** By its child of this moment: the first process of the machine is not the first that nspawn starts. */
const insideOf = async ({ pid }: ChildProcess) => {
  const children = await fs.readFile(`/proc/${pid}/task/${pid}/children`, "utf8")
  const target = /^\d*/u.exec(children)?.[0] ?? ""
  return ["nsenter", "--target", target, "--mount", "--uts", "--ipc", "--pid", "--root", "--wd", "--"] as const
}

/** nspawn hands it on as an orderly end. */
const shutDown = async (child: ChildProcess): Promise<void> => {
  const ended = once(child, "exit")
  if (child.exitCode === null && child.kill("SIGTERM")) await ended
}

const install = async ({ root, types }: Machine): Promise<void> => {
  await checkout(join(root, "opt/waybill"))
  const [, commands = ""] =
    /^```sh elsewhere\n(useradd --system [^]*?)^```$/mu.exec(await fs.readFile(GUIDE, "utf8")) ?? []
  const [clone = "", ...others] = /^git clone .*$/mu.exec(commands) ?? []
  demand(clone !== "" && others.length === 0, `${GUIDE} has no commands that begin with useradd`)
  await types(commands.replace(clone, ":"))
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

/** One that the service may have by its capability alone. */
const freePrivilegedPort = async (port = 600): Promise<number> => {
  const server = createServer().listen(port, "127.0.0.1")
  const listens = await once(server, "listening").then(
    () => true,
    () => false,
  )
  server.close()
  return listens ? port : freePrivilegedPort(port + 1)
}

const pidOf = ({ types }: Machine) => types("systemctl show --property MainPID --value waybill")

const examine = async (task: Run, machine: Machine): Promise<void> => {
  demand((await machine.types("systemd-analyze verify waybill.service 2>&1")) === "", "systemd-analyze finds fault")
  const pid = await pidOf(machine)
  const status = await machine.types(`cat /proc/${pid}/status`)
  const uid = await machine.types("id --user waybill")
  demand(new RegExp(`^Uid:\\t${uid}\\t`, "mu").test(status), "it runs as somebody else than waybill")
  demand(/^NoNewPrivs:\t1$/mu.test(status), "it may gain privileges")
  for (const set of ["CapEff", "CapBnd"])
    demand(new RegExp(`^${set}:\\t${CAPABILITIES}$`, "mu").test(status), `it has other capabilities:\n${status}`)
  const mounts = await machine.types(`cat /proc/${pid}/mountinfo`)
  demand(/^(?:\S+ ){4}\/ ro,/mu.test(mounts), "it may write to the system")
  const exposure = await machine.types("systemd-analyze security --no-pager waybill.service | tail -n 1")
  const [, level = ""] = /: ([\d.]+ \w+)/u.exec(exposure) ?? []
  task.holds(`systemd-analyze verify has nothing to say, and gives its exposure as ${level}`)
}

const restarts = async (task: Run, machine: Machine, ready: () => Promise<true>): Promise<void> => {
  const before = await pidOf(machine)
  await machine.types(`kill -KILL ${before}`)
  await until("systemd starts it again", 30, async () =>
    ["0", before].includes(await pidOf(machine)) ? undefined : true,
  )
  await ready()
  await machine.types("systemctl restart waybill")
  await ready()
  task.holds("it comes back after SIGKILL and after systemctl restart")
  const seconds = await secondsOf(() => machine.types("systemctl stop waybill"))
  const result = await machine.types("systemctl show --property Result --value waybill")
  demand(result === "success" && seconds < SECONDS_TO_STOP, `it stopped with ${result}, in ${seconds.toFixed(0)} s`)
  task.holds("systemctl stop ends it well and in time")
}

/** What nobody mends by starting it again. */
const refuses = async (task: Run, machine: Machine): Promise<void> => {
  await machine.types("echo PORT=none >> /etc/waybill/environment; systemctl start waybill || true")
  await until("it fails", 30, async () =>
    (await machine.types("systemctl is-active waybill || true")) === "failed" ? true : undefined,
  )
  const code = await machine.types("systemctl show --property ExecMainStatus --value waybill")
  demand(code === "78", `with a wrong setting it ended with ${code}`)
  task.holds("with a wrong setting it ends with 78, and is not started again")
}
