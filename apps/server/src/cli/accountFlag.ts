import * as Id from "@waybill/domain/values/Id"
import { Flag } from "effect/cli"

/** Account of a command of operators. Commands that need no database import it without the code that reads accounts. */
export const accountFlag = Flag.String("account").pipe(
  Flag.withDescription("Account id, acc_…; the only account of the instance if left out"),
  Flag.withSchema(Id.AccountId),
  Flag.optional,
)
