import { Argument, Command } from "effect/cli"
import * as Options from "../../Options.ts"
import * as DataCommand from "../../DataCommand.ts"
import { ApiClient, call, firstOf } from "../ApiClient.ts"
import * as Flags from "../Flags.ts"

const COLUMNS = ["created_at", "status", "reason", "method", "id", "path"]

const list = DataCommand.firstOf(
  "list",
  "List API requests, newest first",
  {
    recipient: Options.text("recipient", "Only refused requests with this recipient"),
    status: Options.text("status", "Only with one of these statuses, such as 422,5xx"),
    path: Options.text("path", "Only with this path, or paths that begin so"),
    created_after: Flags.time("since", "Only requests at or after"),
    created_before: Flags.time("until", "Only requests before"),
    limit: Flags.limit,
  },
  COLUMNS,
  function* ({ json: _, limit, ...filters }) {
    return yield* firstOf((client) => client.requests.all(Flags.present(filters)), limit)
  },
  undefined,
  "No requests match.",
)

const get = DataCommand.record(
  "get",
  "Show an API request with its masked body and answer",
  { id: Argument.String("id").pipe(Argument.withDescription("Request id, req_…")) },
  function* ({ id }) {
    return yield* call((client) => client.requests.get(id))
  },
)

export const requests = Command.make("requests").pipe(
  Command.withDescription("API requests, also refused ones"),
  Command.withSubcommands([list, get]),
  Command.provide(ApiClient.layer),
)
