import { isMainThread } from "node:worker_threads"
import { redirectFetch } from "./redirectFetch.ts"
import { redirectHttp } from "./redirectHttp.ts"
import * as Target from "./Target.ts"

const base = Target.baseOf(process.env["WAYBILL_URL"])
redirectFetch(base)
redirectHttp(base)
if (isMainThread) process.stderr.write(`@waybill/redirect: requests to ${Target.HOSTS.join(", ")} go to ${base.href}\n`)
