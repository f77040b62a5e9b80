import * as Accounts from "./Accounts.ts"
import * as ApiKeys from "./ApiKeys.ts"
import * as Domains from "./Domains.ts"
import * as EmailLog from "./EmailLog.ts"
import * as EmailSubjects from "./EmailSubjects.ts"
import * as Inbound from "./Inbound.ts"
import * as InboundRoutes from "./InboundRoutes.ts"
import * as Members from "./Members.ts"
import type { ReadModel } from "./ReadModel.ts"
import * as Suppressions from "./Suppressions.ts"
import * as TemplateVersions from "./templates/TemplateVersions.ts"
import * as Templates from "./templates/Templates.ts"
import * as TestClocks from "./TestClocks.ts"
import * as Webhooks from "./Webhooks.ts"

/** Read models that commits write, in the order in which their tables are locked. */
export const readModels: ReadonlyArray<ReadModel> = [
  Accounts.readModel,
  Members.readModel,
  ApiKeys.readModel,
  Domains.readModel,
  Webhooks.readModel,
  Suppressions.readModel,
  Templates.readModel,
  TemplateVersions.readModel,
  TestClocks.readModel,
  EmailLog.readModel,
  EmailLog.terms,
  EmailSubjects.readModel,
  Inbound.readModel,
  InboundRoutes.readModel,
]
