import { Effect, Exit, Redacted, Scope } from "effect"
import * as Measure from "../bench/measure.ts"
const scope = Scope.makeUnsafe()
const postgres = await Effect.runPromise(Scope.provide(Measure.temporaryServer(), scope))
const url = await Measure.freshDatabase(postgres)
const pg = (await import("pg")).default; const c = new pg.Client(Redacted.value(url)); await c.connect()
let id = 0
const acc = "acc_01m7zcvy8neazr0abfce869b3y"
const rows = () => { const out: any[] = []; for (let i = 0; i < 64; i++) { const e = "msg_01m7zcvy8neazr0ab" + String(id++).padStart(8, "0"); for (const t of ["to:ana@example.org", "tag:receipt", "subject:" + (id * 7919 % 1000003).toString(36).padStart(22, "x")]) out.push({ account_id: acc, term: t, email_id: e }) } return out }
const variants: Record<string, (r: any[]) => Promise<any>> = {
  json_conflict: (r) => c.query({ name: "a", text: "INSERT INTO email_log_terms AS t SELECT * FROM jsonb_populate_recordset(NULL::email_log_terms, $1) ON CONFLICT (account_id, term, email_id) DO NOTHING", values: [JSON.stringify(r)] }),
  json_plain: (r) => c.query({ name: "b", text: "INSERT INTO email_log_terms AS t SELECT * FROM jsonb_populate_recordset(NULL::email_log_terms, $1)", values: [JSON.stringify(r)] }),
  unnest_conflict: (r) => c.query({ name: "c", text: "INSERT INTO email_log_terms AS t SELECT * FROM unnest($1::text[], $2::text[], $3::text[]) ON CONFLICT (account_id, term, email_id) DO NOTHING", values: [r.map((x) => x.account_id), r.map((x) => x.term), r.map((x) => x.email_id)] }),
  unnest_plain: (r) => c.query({ name: "d", text: "INSERT INTO email_log_terms AS t SELECT * FROM unnest($1::text[], $2::text[], $3::text[])", values: [r.map((x) => x.account_id), r.map((x) => x.term), r.map((x) => x.email_id)] }),
}
const sum: Record<string, number[]> = {}
for (let k = 0; k < 150; k++) for (const [name, f] of Object.entries(variants)) { const r = rows(); await c.query("BEGIN"); const t = performance.now(); await f(r); (sum[name] ??= []).push(performance.now() - t); await c.query("COMMIT") }
for (const [n, v] of Object.entries(sum)) { v.sort((a, b) => a - b); console.log(n, "median ms", v[v.length >> 1]!.toFixed(3), "p25", v[v.length >> 2]!.toFixed(3)) }
await c.end(); await Effect.runPromise(Scope.close(scope, Exit.void))
