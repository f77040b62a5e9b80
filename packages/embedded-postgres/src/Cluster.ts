import { type SpawnOptions, spawn } from "node:child_process"
import * as fs from "node:fs/promises"
import * as path from "node:path"
import * as Binaries from "./Binaries.ts"
import { NotStarted } from "./Failure.ts"
import * as Handover from "./Handover.ts"
import type * as Password from "./Password.ts"
import * as Placement from "./Placement.ts"
import * as Settings from "./Settings.ts"
import * as Users from "./Users.ts"

/** The superuser, for what the service itself must never need: server settings, other databases. */
export const ADMIN = "postgres"
/** Owns the database of the same name and nothing else, as the role of a hosted Postgres would. */
export const ROLE = "waybill"
export const DATABASE = "waybill"
/** A transaction that was left open holds locks and keeps vacuum from its work. */
const IDLE_IN_TRANSACTION_TIMEOUT = "10s"
const STAGING = "cluster.new-"
const STAGING_MODE = 0o710
const OTHERS = 0o007

const asOwner = (place: Placement.Placement): SpawnOptions => ({
  // The folder we were started in may be closed to the one who serves.
  cwd: place.home,
  env: { TZ: "UTC", LC_ALL: "C" },
  ...(place.owner === undefined ? {} : { uid: place.owner.uid, gid: place.owner.gid }),
})

const run = (place: Placement.Placement, file: string, args: ReadonlyArray<string>, input = "") =>
  new Promise<{ readonly code: number; readonly output: string }>((resolve, reject) => {
    const child = spawn(file, args, { ...asOwner(place), stdio: ["pipe", "pipe", "pipe"] })
    let output = ""
    child.stdout?.on("data", (chunk) => (output += String(chunk)))
    child.stderr?.on("data", (chunk) => (output += String(chunk)))
    // No GNU C library (Alpine), no permission to execute here (noexec), no such user in this container.
    const reason = `${file} does not run on this system. Set DATABASE_URL to a server of your own.`
    child.once("error", (cause) => reject(new NotStarted({ reason, detail: cause.message })))
    child.once("close", (code) => resolve({ code: code ?? 1, output }))
    // A program that fails at once closes its end first; its exit code tells more than our failed write.
    child.stdin?.on("error", () => undefined)
    child.stdin?.end(input)
  })

const literal = (text: string) => `'${text.replaceAll("'", "''")}'`

/**
 * initdb and single-user mode refuse to run as a user without a name. They run as one that has a name and may be shared,
 * but with the server's own group: only that group may enter the folders above, and nobody of another group may trace
 * these processes or look at what they have open.
 */
const withName = async (place: Placement.Placement): Promise<Placement.Placement> =>
  place.owner?.isNameless === true ? { ...place, owner: { uid: await Users.named(), gid: place.owner.gid } } : place

const initialize = async (place: Placement.Placement, folder: string, password: string, scratch: boolean) => {
  const passwordFile = `${folder}.password`
  try {
    await fs.writeFile(passwordFile, `${password}\n`, { mode: 0o600 })
    if (place.owner !== undefined) await fs.chown(passwordFile, place.owner.uid, place.owner.gid)
    return await run(place, Binaries.program(place.binaries, "initdb"), [
      `--pgdata=${folder}`,
      `--username=${ADMIN}`,
      `--pwfile=${passwordFile}`,
      "--auth=scram-sha-256",
      "--encoding=UTF8",
      // Sorting by code point needs no locale of the operating system and never changes under an index.
      "--locale=C",
      "--locale-provider=builtin",
      "--builtin-locale=C.UTF-8",
      "--no-instructions",
      ...(scratch ? ["--no-sync"] : []),
    ])
  } finally {
    await fs.rm(passwordFile, { force: true })
  }
}

/** Single-user mode needs neither a socket nor a client; a statement ends with an empty line. */
const execute = (place: Placement.Placement, folder: string, statements: ReadonlyArray<string>) =>
  run(
    place,
    Binaries.program(place.binaries, "postgres"),
    ["--single", "-D", folder, "-j", "-c", "exit_on_error=on", "-c", "log_checkpoints=off", ADMIN],
    statements.map((statement) => `${statement};\n\n`).join(""),
  )

const checked = (step: string, result: { readonly code: number; readonly output: string }) => {
  if (result.code !== 0) throw new NotStarted({ reason: `Postgres could not ${step}.`, detail: result.output.trim() })
}

/** A new folder of root's that only the server's group may pass; the caller's own folder where root has no part in it. */
const stagingFolder = async (place: Placement.Placement): Promise<string> => {
  for (const name of await fs.readdir(place.home)) {
    if (name.startsWith(STAGING)) await fs.rm(path.join(place.home, name), { recursive: true, force: true })
  }
  const staging = path.join(place.home, `${STAGING}${process.pid}`)
  await fs.mkdir(staging, { mode: 0o700 })
  if (place.owner !== undefined) {
    await fs.chown(staging, 0, place.owner.gid)
    await fs.chmod(staging, STAGING_MODE)
  }
  return staging
}

const create = async (place: Placement.Placement, password: string, scratch: boolean): Promise<void> => {
  const staging = await stagingFolder(place)
  const named = await withName(place)
  const folder = await Placement.privateFolder(path.join(staging, "cluster"), named.owner)
  checked("make its data folder", await initialize(named, folder, password, scratch))
  const statements = [
    `CREATE ROLE ${ROLE} LOGIN CREATEDB PASSWORD ${literal(password)}`,
    `ALTER ROLE ${ROLE} SET idle_in_transaction_session_timeout = '${IDLE_IN_TRANSACTION_TIMEOUT}'`,
    `CREATE DATABASE ${DATABASE} OWNER ${ROLE}`,
  ]
  checked("make the role and the database", await execute(named, folder, statements))
  if (place.owner !== undefined && named !== place) await Handover.give(folder, place.owner)
  await fs.rename(folder, Placement.cluster(place))
  await fs.rmdir(staging)
}

/** Single-user mode on a cluster in use before, which belongs to the named user meanwhile; see `withName`. */
const executeAsNamed = async (place: Placement.Placement, folder: string, statements: ReadonlyArray<string>) => {
  const named = await withName(place)
  if (named === place || place.owner === undefined || named.owner === undefined)
    return await execute(place, folder, statements)
  const { mode, uid } = await fs.stat(place.home)
  if (uid !== 0 || (mode & OTHERS) !== 0) {
    throw new NotStarted({
      reason: `The cluster cannot be told a new password while ${place.home} is open to others.`,
      detail: "Put the password file back, or give that folder to root and start again.",
    })
  }
  await Handover.give(folder, named.owner)
  try {
    return await execute(named, folder, statements)
  } finally {
    await Handover.give(folder, place.owner)
  }
}

/** Makes the cluster unless it is there. A run killed in between leaves none: the folder appears by a rename. */
export const ensure = async (place: Placement.Placement, password: Password.Password, scratch: boolean) => {
  const folder = Placement.cluster(place)
  const version = await fs.readFile(path.join(folder, "PG_VERSION"), "utf8").catch(() => undefined)
  if (version === undefined) return await create(place, password.text, scratch)
  const [major] = place.binaries.version.split(".")
  if (version.trim() !== major) {
    throw new NotStarted({
      reason: `The data in ${folder} is of Postgres ${version.trim()}, the server is ${major}.`,
      detail: 'Go back to the release before, and follow docs/operating/upgrade.md, "A new major version of Postgres".',
    })
  }
  if (password.isNew) {
    const statements = [ROLE, ADMIN].map((role) => `ALTER ROLE ${role} PASSWORD ${literal(password.text)}`)
    checked("take a new password", await executeAsNamed(place, folder, statements))
  }
}

/** Whether this build accepts a setting; it answers in some 5 ms. */
export const accepts = async (place: Placement.Placement, name: string, value: string): Promise<boolean> => {
  const args = ["-D", Placement.cluster(place), "-c", `${name}=${value}`, "-C", name]
  const { code } = await run(place, Binaries.program(place.binaries, "postgres"), args)
  return code === 0
}

/**
 * A session of its own: Ctrl-C reaches everything in the terminal's group, and the service must still be able to
 * finish its work when it gets there.
 */
export const launch = (place: Placement.Placement, args: ReadonlyArray<string>, log: number) =>
  spawn(Binaries.program(place.binaries, "postgres"), ["-D", Placement.cluster(place), ...args], {
    ...asOwner(place),
    detached: true,
    stdio: ["ignore", log, log],
  })

/** Of a process that serves this cluster: whether we started it, and not a person with a Postgres of their own. */
export const isOurs = (command: string) => command.includes(`cluster_name=${Settings.CLUSTER_NAME}`)

export interface Postmaster {
  readonly pid: number
  /** In seconds: in a container the next server may well have the same number. */
  readonly started: string
  readonly ready: boolean
}

/** The file the server keeps for its own tools; the third line is its start, the eighth its status. */
export const postmaster = async (place: Placement.Placement): Promise<Postmaster | undefined> => {
  const text = await fs.readFile(path.join(Placement.cluster(place), "postmaster.pid"), "utf8").catch(() => "")
  const lines = text.split("\n")
  const pid = Number(lines[0])
  return Number.isInteger(pid) && pid > 0
    ? { pid, started: lines[2]?.trim() ?? "", ready: lines[7]?.trim() === "ready" }
    : undefined
}
