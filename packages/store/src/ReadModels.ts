import * as Accounts from "./Accounts.ts"
import * as EmailLog from "./EmailLog.ts"
import type { ReadModel } from "./ReadModel.ts"
import * as Suppressions from "./Suppressions.ts"

/** Every read model that a commit writes, in the order in which their tables are locked. */
export const readModels: ReadonlyArray<ReadModel> = [
  Accounts.readModel,
  Suppressions.readModel,
  EmailLog.readModel,
  EmailLog.terms,
]
