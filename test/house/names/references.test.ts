import { assert, it } from "../../support/effectTest.ts"
import { paths, read } from "../source.ts"

/**
 * References of the product: parameters that no type shows, with a default where nobody provides one. This list may only shrink.
 * What work cannot do without is a field, a parameter or a service, so that a missing one does not compile.
 */
const REFERENCES: ReadonlyArray<string> = [
  // Of the request in progress, outside which there is none.
  "@waybill/api/errors/ApiError/Refused",
  "@waybill/api/errors/ApiError/RequestId",
  "@waybill/server/accept/DryRun/Current",
  "@waybill/server/accept/RequestCommit/TranslatedRequest",
  "@waybill/server/live/Revocations/CurrentGrant",
  "@waybill/server/requests/Admitted",
  "@waybill/server/web/Bodies/Collected",
  "@waybill/server/web/Bodies/ReadContext",
  // Notes of endpoints, which are read where the endpoint is known.
  "@waybill/api/middleware/Authorization/Bucket",
  "@waybill/api/middleware/Authorization/FurtherScope",
  // Of the decoding of a message.
  "@waybill/api/schemas/EmailMessage/CopiesAlone",
  // The cause of the events of a fiber; without a request it is the service itself.
  "@waybill/store/log/Provenance",
  // The database of a fiber's statements, and of what is known of it.
  "@waybill/store/moves/MovedSince/DirectoryOfCell",
  "@waybill/store/routing/CellKeys",
  "@waybill/store/routing/Cells",
  "@waybill/store/routing/CurrentCell",
  "@waybill/store/routing/CurrentCell/TransactionCell",
  "@waybill/store/routing/Databases/Silent",
  "@waybill/store/routing/StrayAccounts",
  // Parts that an instance may have or not.
  "@waybill/server/settings/Instance/ReceivesMailAt",
  "@waybill/server/signIn/Session/Sessions",
  "@waybill/store/feed/Replica",
  "@waybill/store/requests/RequestLogWriter",
  // Decides only which lines are logged, or which spans are kept.
  "@waybill/server/observability/Traces/Share",
  "@waybill/store/postgres/StoreUnavailable/IsAway",
  // Of the process: its terminal, its stop and its caches.
  "@waybill/mail/parsing/Parser/Pool",
  "@waybill/mail/parsing/Parser/SenderPool",
  "@waybill/server/cli/IsInteractive",
  "@waybill/server/cli/OutputStyle/StandardError",
  "@waybill/server/cli/OutputStyle/StandardOutput",
  "@waybill/server/cli/StandardInput",
  "@waybill/server/process/Stop",
  "@waybill/server/process/Stop/Overdue",
  "@waybill/server/providers/findMessages/KnownSenders",
  "@waybill/store/operations/Readiness/Started",
  // Changed by tests and by instances of test suites.
  "@waybill/server/providers/AmazonFetch/AmazonServers",
  "@waybill/server/providers/KnownHooks/HOME_EVERY",
  "@waybill/server/requests/InjectedFaults",
  "@waybill/store/rebuild/fill/Fill/SliceEvents",
  "@waybill/store/rebuild/versions/Replay/LOCK_LIMIT",
  "@waybill/store/routing/Reachable/ASK_EVERY",
]

const sources = paths.filter((path) => /^(?:packages|apps)\/[^/]+\/src\/.*\.tsx?$/u.test(path)).map(read)

it("only these references have a default in place of a parameter", () => {
  const keys = sources.flatMap(({ text }) =>
    // A mention in a type is followed by no key.
    text
      .split("= Context.Reference")
      .slice(1)
      .map((rest) => /\(\s*"([^"]+)"/u.exec(rest)?.[1] ?? ""),
  )
  assert.sameMembers(keys, [...REFERENCES])
})

/** Files that say which database a fiber's statements use, or in which one its transaction has begun. */
const SETTERS: ReadonlyArray<string> = [
  // Statements that change tables run beside the transaction, on a connection of their own.
  "packages/store/src/database/Definitions.ts",
  // `inCell`, which fails inside a transaction of another database.
  "packages/store/src/routing/CurrentCell.ts",
  // Begins the transaction.
  "packages/store/src/routing/RoutedClient.ts",
]

it("only `inCell` changes the database of a fiber", () => {
  const set =
    /(?:provideService|updateService|Context\.(?:add|make)|Layer\.\w+)\((?:[^()]*,\s*)?(?:CurrentCell|TransactionCell)\b/u
  assert.deepStrictEqual(
    sources.filter(({ text }) => set.test(text)).map(({ path }) => path),
    SETTERS,
  )
})
