import * as Id from "@waybill/domain/values/Id"
import * as Uuid from "@waybill/domain/values/Uuid"
import { assert, test } from "vitest"
import { randomBytes } from "node:crypto"

test("an id of ours and a UUID are two spellings of the same bytes", () => {
  for (let nth = 0; nth < 100; nth++) {
    const id = Id.make("EmailId", Date.UTC(2026, 0, 1) + nth, randomBytes(10))
    const uuid = Uuid.of(id) ?? ""
    assert.match(uuid, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/u)
    assert.strictEqual(Uuid.idOf("EmailId", uuid), id)
    assert.strictEqual(Uuid.idOf("EmailId", uuid.toUpperCase()), id)
  }
  for (const other of ["", "msg_1", "x", "<msg_00000000000000000000000000@acme.test>"])
    assert.isUndefined(Uuid.of(other))
  for (const other of ["", "0190", "zzzzzzzz-0000-4000-8000-000000000000"])
    assert.isUndefined(Uuid.idOf("EmailId", other))
})
