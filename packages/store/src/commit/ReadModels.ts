import * as Accounts from "../readmodels/Accounts.ts"
import * as ApiKeys from "../readmodels/ApiKeys.ts"
import * as Domains from "../readmodels/Domains.ts"
import * as EmailLog from "../readmodels/emails/EmailLog.ts"
import * as EmailSubjects from "../readmodels/emails/EmailSubjects.ts"
import * as Inbound from "../readmodels/Inbound.ts"
import * as InboundRoutes from "../readmodels/InboundRoutes.ts"
import * as Members from "../readmodels/Members.ts"
import type { ReadModel } from "../readmodels/ReadModel.ts"
import * as Suppressions from "../readmodels/Suppressions.ts"
import * as TemplateVersions from "../readmodels/templates/TemplateVersions.ts"
import * as Templates from "../readmodels/templates/Templates.ts"
import * as TestClocks from "../readmodels/TestClocks.ts"
import * as Webhooks from "../readmodels/Webhooks.ts"

/** Tables that are folded from streams, so that a rebuild can fill them again. */
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
