import { Command } from "effect/cli"
import * as Options from "../../Options.ts"
import { ApiClient } from "../ApiClient.ts"
import * as Flags from "../Flags.ts"
import * as ApiCommand from "../ApiCommand.ts"
import * as DataCommand from "../../DataCommand.ts"

const COLUMNS = ["created_at", "status", "request", "reason", "id"]

const list = ApiCommand.list(
  {
    recipient: Options.text("recipient", "Only refused requests with this recipient"),
    status: Options.text("status", "Only with one of these statuses, such as 422,5xx"),
    path: Options.text("path", "Only with this path, or paths that begin so"),
    created_after: Flags.time("since", "Only requests at or after"),
    created_before: Flags.time("until", "Only requests before"),
  },
  COLUMNS,
  "No requests match.",
  (client, filters) => client.requests.all(filters),
  (request) => ({ ...request, request: `${request.method} ${request.path}` }),
)

const get = ApiCommand.record(
  { id: Options.argument("id", "Request id, req_…, or a part as lists show it") },
  (client, { id }) => client.requests.get(id),
)

export const requests = DataCommand.group({
  list: ["List API requests, newest first", list],
  get: ["Show an API request with its masked body and answer", get],
}).with(Command.provide(ApiClient.layer))
