import { assert, describe, it } from "@effect/vitest"
import * as Handover from "@waybill/embedded-postgres/Handover"

const server = { uid: 2_100_000_001, gid: 2_100_000_001 }

/** A file on a file system that has its own idea of owners. */
const fileOf = (owner: { readonly uid: number; readonly gid: number }, chown = () => Promise.resolve()) => ({
  chown,
  stat: () => Promise.resolve(owner),
})

const refusal = (file: ReturnType<typeof fileOf>): Promise<string> =>
  Handover.giveOpen(file, "/share/postgres", server).then(
    () => "given",
    (cause: Error) => cause.message,
  )

describe("a file given to a server's user", () => {
  it("is theirs", async () => {
    assert.strictEqual(await refusal(fileOf(server)), "given")
  })

  it("is refused in plain words where the file system has no owners", async () => {
    const why = await refusal(fileOf(server, () => Promise.reject(Object.assign(new Error("no"), { code: "EPERM" }))))
    assert.include(why, "/share/postgres cannot be given to user 2100000001, as whom root's Postgres runs: EPERM.")
    assert.include(why, "run the service as a user other than root, or set DATABASE_URL")
  })

  it("is refused where the file system says yes and writes another owner", async () => {
    assert.include(await refusal(fileOf({ uid: 65_534, gid: 65_534 })), "the file system does not keep the owner")
  })
})
