import { Argument, Command } from "effect/cli"
import * as Options from "../../Options.ts"
import * as DataCommand from "../../DataCommand.ts"
import { ApiClient, firstOf } from "../ApiClient.ts"
import * as Flags from "../Flags.ts"
import * as WholeId from "../WholeId.ts"

const COLUMNS = ["created_at", "status", "request", "reason", "id"]

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
  (request) => ({ ...request, request: `${request.method} ${request.path}` }),
  "No requests match.",
)

const get = DataCommand.record(
  "get",
  "Show an API request with its masked body and answer",
  { id: Argument.String("id").pipe(Argument.withDescription("Request id, req_…, or the begin of one")) },
  function* ({ id }) {
    return yield* WholeId.call(id, (client, id) => client.requests.get(id))
  },
)

export const requests = Command.make("requests").pipe(
  Command.withDescription("API requests, also refused ones"),
  Command.withSubcommands([list, get]),
  Command.provide(ApiClient.layer),
)
