import type { Route } from "../Door.ts"
import { makeDoor } from "../makeDoor.ts"
import * as Absent from "../resend/Absent.ts"
import * as ApiKeys from "../resend/ApiKeys.ts"
import * as Attachments from "../resend/Attachments.ts"
import * as Batch from "../resend/emails/Batch.ts"
import * as Domains from "../resend/Domains.ts"
import * as Emails from "../resend/emails/Emails.ts"
import { errorOf } from "../resend/errorOf.ts"
import * as Receiving from "../resend/Receiving.ts"
import * as Suppressions from "../resend/Suppressions.ts"
import * as Templates from "../resend/templates/Templates.ts"
import * as Usage from "../resend/Usage.ts"
import * as Webhooks from "../resend/Webhooks.ts"

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
