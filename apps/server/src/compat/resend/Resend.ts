import type { Route } from "../Door.ts"
import { makeDoor } from "../makeDoor.ts"
import * as Absent from "./Absent.ts"
import * as ApiKeys from "./ApiKeys.ts"
import * as Attachments from "./Attachments.ts"
import * as Batch from "./emails/Batch.ts"
import * as Domains from "./Domains.ts"
import * as Emails from "./emails/Emails.ts"
import { errorOf } from "./errorOf.ts"
import * as Receiving from "./Receiving.ts"
import * as Suppressions from "./Suppressions.ts"
import * as Templates from "./templates/Templates.ts"
import * as Usage from "./Usage.ts"
import * as Webhooks from "./Webhooks.ts"

const ROUTES: ReadonlyArray<Route> = [
  ...Batch.routes,
  ...Receiving.routes,
  ...Emails.routes,
  ...Attachments.routes,
  ...Domains.routes,
  ...ApiKeys.routes,
  ...Webhooks.routes,
  ...Suppressions.routes,
  ...Templates.routes,
  ...Usage.routes,
]

/** The API of Resend, as the npm package `resend` calls it. */
export const door = makeDoor({
  prefix: "/compat/resend",
  hasUuids: true,
  authorization: ({ authorization }) => authorization,
  routes: ROUTES,
  absent: Absent.ABSENT,
  errorOf,
})
