import { Schema } from "effect"

/** Another process runs or starts a server in this folder. */
export class FolderHeld extends Schema.TaggedError<FolderHeld>()("FolderHeld", {
  folder: Schema.String,
  pid: Schema.Int,
  command: Schema.String,
}) {
  override get message() {
    const named = this.command === "" ? "" : ` (${this.command})`
    return `${this.folder} is in use by process ${this.pid}${named}. Stop that process or choose another folder.`
  }
}

/** The server could not be prepared or did not start. `detail` holds its own output. */
export class NotStarted extends Schema.TaggedError<NotStarted>()("NotStarted", {
  reason: Schema.String,
  detail: Schema.String,
}) {
  override get message() {
    return this.detail === "" ? this.reason : `${this.reason}\n${this.detail}`
  }
}

export type EmbeddedPostgresError = FolderHeld | NotStarted

export const notStarted = (reason: string) => (cause: unknown) =>
  cause instanceof FolderHeld || cause instanceof NotStarted
    ? cause
    : new NotStarted({ reason, detail: cause instanceof Error ? cause.message : String(cause) })

/** The server ended while in use, and could not be restarted. */
export class ServerDied extends Schema.TaggedError<ServerDied>()("ServerDied", {
  pid: Schema.Int,
  detail: Schema.String,
}) {
  override get message() {
    return `the embedded Postgres (process ${this.pid}) ended unexpectedly and could not be restarted: ${this.detail.replaceAll(/\s*\n\s*/gu, " ")}`
  }
}
