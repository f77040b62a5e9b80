import { type SpawnOptions, spawn } from "node:child_process"
import * as fs from "node:fs/promises"
import * as path from "node:path"
import * as Binaries from "../system/Binaries.ts"
import * as Failure from "../system/Failure.ts"
import * as Handover from "../ownership/Handover.ts"
import type * as Password from "./Password.ts"
import * as Placement from "../ownership/Placement.ts"
import * as Settings from "./Settings.ts"
import * as Users from "../ownership/Users.ts"

/** The superuser, for tasks outside the service: server settings, other databases. */
export const ADMIN = "postgres"
/** Role of the service. It owns only its database, like a role on a hosted Postgres. */
export const ROLE = "waybill"
export const DATABASE = "waybill"
/** An idle open transaction holds locks and prevents vacuum. */
const IDLE_IN_TRANSACTION_TIMEOUT = "10s"
const STAGING = "cluster.new-"
const STAGING_MODE = 0o710
const OTHERS = 0o007

const asOwner = (placement: Placement.Placement): SpawnOptions => ({
  // The server's user may lack access to the current folder.
  cwd: placement.home,
  env: { TZ: "UTC", LC_ALL: "C" },
  ...(placement.owner === undefined ? {} : { uid: placement.owner.uid, gid: placement.owner.gid }),
})

const run = (placement: Placement.Placement, file: string, args: ReadonlyArray<string>, input = "") =>
  new Promise<{ readonly code: number; readonly output: string }>((resolve, reject) => {
    const child = spawn(file, args, { ...asOwner(placement), stdio: ["pipe", "pipe", "pipe"] })
    let output = ""
    child.stdout?.on("data", (chunk) => (output += String(chunk)))
    child.stderr?.on("data", (chunk) => (output += String(chunk)))
    // Causes: no GNU C library (Alpine), no permission to execute (noexec), no such user in this container.
    const reason = `${file} does not run on this system. Set DATABASE_URL to your own server.`
    child.once("error", (cause) => reject(new Failure.NotStarted({ reason, detail: cause.message })))
    child.once("close", (code) => resolve({ code: code ?? 1, output }))
    // A program that fails at once closes its stdin first. Its exit code says more than the failed write.
    child.stdin?.on("error", () => undefined)
    child.stdin?.end(input)
  })

const literal = (text: string) => `'${text.replaceAll("'", "''")}'`

/**
 * initdb and single-user mode refuse to run as a user without a name. They run as a named user, possibly a shared one,
 * but with the server's own group: only that group can enter the parent folders, and processes of other groups cannot
 * trace these processes or read their open files.
 */
const withName = async (placement: Placement.Placement): Promise<Placement.Placement> =>
  placement.owner?.isNameless === true
    ? { ...placement, owner: { uid: await Users.named(), gid: placement.owner.gid } }
    : placement

/** How a new cluster is made. */
export interface Kind {
  /** Nothing is synced to disk. */
  readonly scratch: boolean
  /** For copies: the files are few and small, and there is no database but that of the service. */
  readonly compact: boolean
}

const initialize = async (placement: Placement.Placement, folder: string, password: string, kind: Kind) => {
  const passwordFile = `${folder}.password`
  try {
    await fs.writeFile(passwordFile, `${password}\n`, { mode: 0o600 })
    if (placement.owner !== undefined) await fs.chown(passwordFile, placement.owner.uid, placement.owner.gid)
    return await run(placement, Binaries.program(placement.binaries, "initdb"), [
      `--pgdata=${folder}`,
      `--username=${ADMIN}`,
      `--pwfile=${passwordFile}`,
      "--auth=scram-sha-256",
      "--encoding=UTF8",
      // Sorting by code point needs no operating system locale and never changes under an index.
      "--locale=C",
      "--locale-provider=builtin",
      "--builtin-locale=C.UTF-8",
      "--no-instructions",
      ...(kind.scratch ? ["--no-sync"] : []),
      ...(kind.compact ? ["--wal-segsize=1"] : []),
    ])
  } finally {
    await fs.rm(passwordFile, { force: true })
  }
}

/**
 * Runs statements in single-user mode, which needs neither a socket nor a client. A statement ends with an empty line.
 */
const execute = (
  placement: Placement.Placement,
  folder: string,
  statements: ReadonlyArray<string>,
  database: string = ADMIN,
) =>
  run(
    placement,
    Binaries.program(placement.binaries, "postgres"),
    ["--single", "-D", folder, "-j", "-c", "exit_on_error=on", "-c", "log_checkpoints=off", database],
    statements.map((statement) => `${statement};\n\n`).join(""),
  )

const requireSuccess = (step: string, result: { readonly code: number; readonly output: string }) => {
  if (result.code !== 0)
    throw new Failure.NotStarted({ reason: `Postgres could not ${step}.`, detail: result.output.trim() })
}

/**
 * Makes a new folder that belongs to root and that only the server's group can enter; without root, a folder of the
 * caller.
 */
const stagingFolder = async (placement: Placement.Placement): Promise<string> => {
  for (const name of await fs.readdir(placement.home)) {
    if (name.startsWith(STAGING)) await fs.rm(path.join(placement.home, name), { recursive: true, force: true })
  }
  const staging = path.join(placement.home, `${STAGING}${process.pid}`)
  await fs.mkdir(staging, { mode: 0o700 })
  if (placement.owner !== undefined) {
    await fs.chown(staging, 0, placement.owner.gid)
    await fs.chmod(staging, STAGING_MODE)
  }
  return staging
}

/** Databases of every new cluster, which nothing uses once that of the service exists. */
const SPARE_DATABASES = [ADMIN, "template0", "template1"]

const dropSpareDatabases = (placement: Placement.Placement, folder: string) =>
  execute(
    placement,
    folder,
    SPARE_DATABASES.flatMap((name) => [`ALTER DATABASE ${name} IS_TEMPLATE false`, `DROP DATABASE ${name}`]),
    DATABASE,
  )

const create = async (placement: Placement.Placement, password: string, kind: Kind): Promise<void> => {
  const staging = await stagingFolder(placement)
  const named = await withName(placement)
  const folder = await Placement.privateFolder(path.join(staging, "cluster"), named.owner)
  requireSuccess("create its data folder", await initialize(named, folder, password, kind))
  const statements = [
    `CREATE ROLE ${ROLE} LOGIN CREATEDB PASSWORD ${literal(password)}`,
    `ALTER ROLE ${ROLE} SET idle_in_transaction_session_timeout = '${IDLE_IN_TRANSACTION_TIMEOUT}'`,
    `CREATE DATABASE ${DATABASE} OWNER ${ROLE}`,
  ]
  requireSuccess("create the role and the database", await execute(named, folder, statements))
  if (kind.compact) requireSuccess("drop spare databases", await dropSpareDatabases(named, folder))
  if (placement.owner !== undefined && named !== placement) await Handover.give(folder, placement.owner)
  await fs.rename(folder, Placement.cluster(placement))
  await fs.rmdir(staging)
}

/**
 * Runs statements in single-user mode on an existing cluster, which belongs to the named user meanwhile; see
 * `withName`.
 */
const executeAsNamed = async (placement: Placement.Placement, folder: string, statements: ReadonlyArray<string>) => {
  const named = await withName(placement)
  if (named === placement || placement.owner === undefined || named.owner === undefined)
    return await execute(placement, folder, statements)
  const { mode, uid } = await fs.stat(placement.home)
  if (uid !== 0 || (mode & OTHERS) !== 0) {
    throw new Failure.NotStarted({
      reason: `The cluster's password cannot be changed while ${placement.home} is open to other users.`,
      detail: "Put the password file back, or give that folder to root and start again.",
    })
  }
  await Handover.give(folder, named.owner)
  try {
    return await execute(named, folder, statements)
  } finally {
    await Handover.give(folder, placement.owner)
  }
}

/** Creates the cluster unless it exists. The final rename makes this atomic, so a killed run leaves no cluster. */
export const ensure = async (placement: Placement.Placement, password: Password.Password, kind: Kind) => {
  const folder = Placement.cluster(placement)
  const version = await fs.readFile(path.join(folder, "PG_VERSION"), "utf8").catch(() => undefined)
  if (version === undefined) return await create(placement, password.text, kind)
  const [major] = placement.binaries.version.split(".")
  if (version.trim() !== major) {
    throw new Failure.NotStarted({
      reason: `The data in ${folder} was written by Postgres ${version.trim()}, but the server is Postgres ${major}.`,
      detail:
        'Go back to the previous release and follow docs/operating/upgrade.md, "A new major version of Postgres".',
    })
  }
  if (password.isNew) {
    const statements = [ROLE, ADMIN].map((role) => `ALTER ROLE ${role} PASSWORD ${literal(password.text)}`)
    requireSuccess("change the password", await executeAsNamed(placement, folder, statements))
  }
}

/** Whether this build accepts a setting. Takes about 5 ms. */
export const accepts = async (placement: Placement.Placement, name: string, value: string): Promise<boolean> => {
  const args = ["-D", Placement.cluster(placement), "-c", `${name}=${value}`, "-C", name]
  const { code } = await run(placement, Binaries.program(placement.binaries, "postgres"), args)
  return code === 0
}

/**
 * Starts the server in its own session. Ctrl-C signals the whole group of the terminal, and the service still needs the
 * server for its shutdown.
 */
export const launch = (placement: Placement.Placement, args: ReadonlyArray<string>, log: number) =>
  spawn(Binaries.program(placement.binaries, "postgres"), ["-D", Placement.cluster(placement), ...args], {
    ...asOwner(placement),
    detached: true,
    stdio: ["ignore", log, log],
  })

/** Whether this package started the server of a command line, rather than a person with their own Postgres. */
export const isOurs = (command: string) => command.includes(`cluster_name=${Settings.CLUSTER_NAME}`)

export interface Postmaster {
  readonly pid: number
  /** Start time in seconds. In a container the next server may have the same process id. */
  readonly started: string
  readonly ready: boolean
}

/** Reads postmaster.pid: the third line is the start time, the eighth the status. */
export const postmaster = async (placement: Placement.Placement): Promise<Postmaster | undefined> => {
  const text = await fs.readFile(path.join(Placement.cluster(placement), "postmaster.pid"), "utf8").catch(() => "")
  const lines = text.split("\n")
  const pid = Number(lines[0])
  return Number.isInteger(pid) && pid > 0
    ? { pid, started: lines[2]?.trim() ?? "", ready: lines[7]?.trim() === "ready" }
    : undefined
}
