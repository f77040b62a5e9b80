import * as Settings from "@waybill/embedded-postgres/server/Settings"
import { assert, describe, it } from "../../support/effectTest.ts"

const GB = 1024 ** 3

describe("shared buffers", () => {
  it("shared buffers are an eighth of the machine's memory, within limits", () => {
    const sizes = [0.5, 1, 2, 8, 16, 512].map((gigabytes) => Settings.sharedBuffers(gigabytes * GB))
    assert.deepStrictEqual(sizes, ["128MB", "128MB", "256MB", "1024MB", "2048MB", "2048MB"])
    assert.match(Settings.sharedBuffers(), /^\d{3,4}MB$/u)
  })

  it("a test server has small shared buffers", () => {
    assert.strictEqual(Settings.SCRATCH_SETTINGS["shared_buffers"], "128MB")
  })
})
