import * as Address from "@waybill/embedded-postgres/ownership/Address"
import * as Cluster from "@waybill/embedded-postgres/server/Cluster"
import type * as EmbeddedPostgres from "@waybill/embedded-postgres/server/EmbeddedPostgres"
import * as Placement from "@waybill/embedded-postgres/ownership/Placement"
import * as Settings from "@waybill/embedded-postgres/server/Settings"
import { Effect, Redacted, type Scope } from "effect"
import { once } from "node:events"
import * as fs from "node:fs/promises"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import pg from "pg"
import { memoryFolder } from "../memoryFolder.ts"

export interface Standby {
  /** Address with the service's role and database; accepts only reads. */
  readonly url: Redacted.Redacted
  readonly adminUrl: Redacted.Redacted
  /** Promotes the standby, and waits until it accepts writes. */
  readonly promote: Effect.Effect<void>
  /** Kills the server at once. */
  readonly kill: Effect.Effect<void>
}

/**
 * Files left out of a backup: the running server's lock and slots, and files that it writes again, some of them during the
 * copy.
 */
const NOT_COPIED = /^(?:postmaster\.(?:pid|opts)|pg_wal|pg_replslot|pgsql_tmp|pg_internal\.init.*|.*\.tmp)$/u

let slots = 0

/** Starts a streaming replica of an embedded server from a backup of its folder, and stops it with the scope. */
export const follow = (
  primary: EmbeddedPostgres.Running,
  dataDir: string,
  /** Other address of the primary, which can be cut. */
  through?: Redacted.Redacted,
): Effect.Effect<Standby, never, Scope.Scope> =>
  Effect.gen(function* () {
    const folder = yield* Effect.acquireRelease(
      Effect.promise(() => memoryFolder("standby")),
      (path) => Effect.promise(() => fs.rm(path, { recursive: true, force: true })),
    )
    const placement = yield* Effect.promise(async () => {
      // Servers started by root run as users of their own. This one runs as the primary's user, who alone may use its
      // socket.
      await fs.chmod(folder, 0o711)
      const chosen = await Placement.find(folder, Placement.ROOT_HOME)
      const { gid, uid } = await fs.stat(join(dataDir, "cluster"))
      return uid === process.geteuid?.() ? chosen : { ...chosen, owner: { uid, gid } }
    })
    const address = yield* Effect.promise(() => Address.choose(placement, tmpdir(), false))
    const admin = new URL(Redacted.value(primary.adminUrl))
    const proxied = through === undefined ? undefined : new URL(Redacted.value(through))
    const [host, port] = proxied === undefined ? [primary.socketDir, admin.port] : [proxied.hostname, proxied.port]
    // The proxy reads the protocol and cannot negotiate encryption.
    const plain = "sslmode=disable gssencmode=disable"
    const from = `host=${host} port=${port} user=${admin.username} password=${admin.password} ${plain}`
    // Without a slot the checkpoint of a stop removes segments that the standby has not read.
    const slot = `standby_${process.pid}_${slots++}`
    const child = yield* Effect.acquireRelease(
      Effect.promise(async () => {
        await backUp(primary, slot, join(dataDir, "cluster"), Placement.cluster(placement))
        const log = await fs.open(join(folder, "postgres.log"), "a")
        const child = Cluster.launch(
          placement,
          Settings.asArguments({
            ...Settings.SETTINGS,
            ...Settings.SCRATCH_SETTINGS,
            ...Address.settings(address),
            primary_conninfo: from,
            primary_slot_name: slot,
          }),
          log.fd,
        )
        await log.close()
        return child
      }),
      (child) =>
        Effect.promise(async () => {
          if (child.exitCode !== null || child.signalCode !== null) return
          child.kill("SIGQUIT")
          await once(child, "close")
        }),
    )
    const here = (url: Redacted.Redacted) => {
      const changed = new URL(Redacted.value(url))
      if (address._tag === "Socket") changed.searchParams.set("host", address.folder)
      else changed.search = ""
      changed.port = String(address.port)
      return Redacted.make(changed.href)
    }
    const standby = { url: here(primary.url), adminUrl: here(primary.adminUrl) }
    yield* Effect.promise(async () => {
      while (!(await answers(standby.adminUrl)))
        if (child.exitCode !== null) throw new Error(await fs.readFile(join(folder, "postgres.log"), "utf8"))
    })
    return {
      ...standby,
      promote: Effect.promise(async () => {
        const client = new pg.Client({ connectionString: Redacted.value(standby.adminUrl) })
        await client.connect()
        await client.query("SELECT pg_promote()")
        await client.end()
      }),
      kill: Effect.promise(async () => {
        child.kill("SIGQUIT")
        await once(child, "close")
      }),
    }
  })

const backUp = async (primary: EmbeddedPostgres.Running, slot: string, from: string, to: string): Promise<void> => {
  const client = new pg.Client({ connectionString: Redacted.value(primary.adminUrl) })
  await client.connect()
  try {
    await client.query("SELECT pg_create_physical_replication_slot($1, true)", [slot])
    await client.query("SELECT pg_backup_start('standby', true)")
    await fs.cp(from, to, { recursive: true, filter: (path) => !NOT_COPIED.test(basename(path)) })
    await fs.mkdir(join(to, "pg_wal/archive_status"), { recursive: true })
    await fs.mkdir(join(to, "pg_replslot"))
    const { rows } = await client.query<{ readonly labelfile: string }>("SELECT labelfile FROM pg_backup_stop(false)")
    await fs.writeFile(join(to, "backup_label"), rows[0]?.labelfile ?? "")
    await fs.writeFile(join(to, "standby.signal"), "")
  } finally {
    await client.end()
  }
  const { gid, uid } = await fs.stat(from)
  for (const path of ["", ...(await fs.readdir(to, { recursive: true }))]) await fs.chown(join(to, path), uid, gid)
  await fs.chmod(to, 0o700)
}

/** Whether a server lets clients in. */
export const answers = async (url: Redacted.Redacted): Promise<boolean> => {
  const client = new pg.Client({ connectionString: Redacted.value(url) })
  client.on("error", () => {})
  try {
    await client.connect()
    return true
  } catch {
    return false
  } finally {
    await client.end().catch(() => {})
  }
}
