import * as CanceledContent from "../content/CanceledContent.ts"
import * as InboundContent from "../content/InboundContent.ts"
import * as StoredContent from "../content/StoredContent.ts"
import * as UnsentRows from "../facts/UnsentRows.ts"
import * as UsageRows from "../facts/UsageRows.ts"
import * as StoredAnswers from "../idempotency/StoredAnswers.ts"
import type { BatchTable } from "../log/BatchTable.ts"
import * as DueWork from "../outbox/DueWork.ts"
import * as Subscriptions from "../webhooks/Subscriptions.ts"
import type { Facts } from "./Facts.ts"
import * as ReadModels from "./ReadModels.ts"

/**
 * The tables that commits write besides the log. All batches lock their rows in one order: Postgres runs the expressions of a
 * statement from the last to the first, so simple ones (`Writes`) follow the others, and the log follows all.
 */
export const all: ReadonlyArray<BatchTable<unknown, Facts>> = [
  ...ReadModels.readModels,
  StoredAnswers.table,
  StoredContent.table,
  InboundContent.table,
  UsageRows.table,
  CanceledContent.table,
  Subscriptions.table,
  DueWork.table,
  UnsentRows.table,
]
