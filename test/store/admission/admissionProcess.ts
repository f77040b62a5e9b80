// A node as a process: `admissionProcess.ts URL HASH bucket:requests…` prints how many were admitted.
import type * as RateLimit from "@waybill/domain/account/RateLimit"
import { Admission } from "@waybill/store/admission/Admission"
import * as Database from "@waybill/store/database/Database"
import { KeyUses } from "@waybill/store/admission/KeyUses"
import { Effect, Layer, Redacted } from "effect"
import { alone } from "../../support/postgres/Database.ts"

const [url = "", tokenHash = "", ...wanted] = process.argv.slice(2)

const program = Effect.gen(function* () {
  const admission = yield* Admission
  const admitted: Record<string, number> = {}
  yield* Effect.forEach(
    wanted,
    (each) => {
      const [bucket = "other", requests = "0"] = each.split(":") as [RateLimit.Bucket?, string?]
      const one = Effect.map(admission.admit({ tokenHash, bucket, address: "127.0.0.1" }), ({ _tag }) => {
        if (_tag === "Admitted") admitted[bucket] = (admitted[bucket] ?? 0) + 1
      })
      return Effect.forEach(Array.from({ length: Number(requests) }), () => one, { concurrency: 64 })
    },
    { concurrency: "unbounded" },
  )
  process.stdout.write(JSON.stringify(admitted))
})

await Effect.runPromise(
  program.pipe(
    Effect.provide(
      Admission.layer.pipe(
        Layer.provide(KeyUses.layer),
        Layer.provide([alone, Database.layer({ url: Redacted.make(url) })]),
      ),
    ),
  ),
)
