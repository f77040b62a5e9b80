import { assert, it } from "../../support/effectTest.ts"
import { paths, read } from "../source.ts"

/** A cell of the installation, or Citus. In the dashboard, cells are those of tables. */
const NAMES = /\bcells?\b|Cells?\b|Cell[A-Z]|\bcell[A-Z_]|_CELLS?\b|\bCELLS?_|[cC]itus/u

/** Folders whose work is cells, the servers that they are on, or what an operator sees of them. */
const FOLDERS: ReadonlyArray<string> = [
  "apps/server/src/cli/",
  "apps/server/src/http/dashboard/",
  "apps/server/src/operate/",
  "packages/store/src/backup/",
  "packages/store/src/cells/",
  "packages/store/src/database/",
  "packages/store/src/exports/",
  "packages/store/src/moves/",
  "packages/store/src/operations/",
  "packages/store/src/recovery/",
  "packages/store/src/routing/",
]

/** Other files that name them. This list may only shrink: `Databases` finds the database of an account for all others. */
const FILES: ReadonlyArray<string> = [
  // Start their upkeep, a command and a backup.
  "apps/server/src/boot/service/Worker.ts",
  "apps/server/src/boot/waybill.ts",
  // The format in which an instance describes its logs.
  "apps/server/src/http/pages/LogRoutes.ts",
  // Cells of tables.
  "apps/server/src/http/pages/site/Library.ts",
  "apps/server/src/http/pages/site/Markdown.ts",
  "apps/server/src/http/pages/site/SearchIndex.ts",
  // Opens the addresses of cells for commands.
  "apps/server/src/installation/InstanceKeys.ts",
  // Series of each cell.
  "apps/server/src/metrics/Database.ts",
  // Read the description of logs.
  "apps/server/src/witness/LogReader.ts",
  "apps/server/src/witness/Witness.ts",
  "apps/server/src/worker/periodic/makeBackups.ts",
  // Lists for operators.
  "packages/api/src/groups/Operate.ts",
  "packages/api/src/groups/System.ts",
  "packages/client/src/types.ts",
  // Cells of a file.
  "packages/domain/src/suppression/SuppressionFile.ts",
  // The log of an outage, and lists for operators.
  "packages/store/src/availability/Availability.ts",
  "packages/store/src/erasure/Erase.ts",
  // The payload of a wake-up.
  "packages/store/src/outbox/WakeUps.ts",
  // Addresses of cells, and errors of nodes.
  "packages/store/src/postgres/DatabaseUrl.ts",
  "packages/store/src/postgres/SqlErrors.ts",
  "packages/store/src/readmodels/Accounts.ts",
  // Statements that a node of Citus takes otherwise.
  "packages/store/src/rebuild/versions/TableSizes.ts",
  "packages/store/src/requests/RequestLogConnection.ts",
  // Seals the addresses of cells.
  "packages/store/src/secrets/SealedAddresses.ts",
  // The path of a log.
  "packages/store/src/transparency/Checkpoints.ts",
  "packages/verify/src/keysOfLog.ts",
]

it("only folders whose work it is name cells or Citus", () => {
  const product = paths.filter((path) => /^(?:packages|apps\/server)\/.*\bsrc\/.*\.ts$/u.test(path))
  const others = product.filter((path) => !FOLDERS.some((folder) => path.startsWith(folder)))
  assert.deepStrictEqual(
    others.filter((path) => NAMES.test(read(path).text)),
    FILES,
  )
})
