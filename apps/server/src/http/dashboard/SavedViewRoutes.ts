import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import * as Contract from "@waybill/api/schemas/SavedView"
import * as Refusal from "@waybill/domain/values/Refusal"
import * as SavedViews from "@waybill/store/users/SavedViews"
import { Effect } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { Admitted } from "../../requests/Admitted.ts"
import * as RequestTarget from "../../requests/RequestTarget.ts"
import * as DashboardRoute from "./DashboardRoute.ts"

class TooManyViews extends Refusal.of("TooManyViews", 422, "too_many_views") {
  override readonly message = `You have ${SavedViews.MAX_VIEWS} saved views, the maximum. Delete one to save another.`
}

class ViewNotFound extends Refusal.of("ViewNotFound", 404, "view_not_found") {
  override readonly message = "You have no saved view with this name."
}

/** The signed-in user. A key has no views, and gets a 404. */
const owner = Effect.gen(function* () {
  const request = yield* HttpServerRequest.HttpServerRequest
  const admitted = yield* Admitted
  if (admitted === undefined || !("user" in admitted))
    return yield* new RequestRefusal.NoSuchRoute({ method: request.method, path: RequestTarget.pathOf(request.url) })
  return { account_id: admitted.user.account_id, user_id: admitted.user.user_id }
})

const list = Effect.map(Effect.flatMap(owner, SavedViews.list), (data) => ({ data }))

const save = Effect.gen(function* () {
  const view = yield* DashboardRoute.bodyOf(Contract.SavedView)
  if (!(yield* SavedViews.save(yield* owner, view))) return yield* new TooManyViews()
  return view
})

const remove = Effect.gen(function* () {
  const { name = "" } = yield* HttpRouter.params
  if (!(yield* SavedViews.remove(yield* owner, name))) return yield* new ViewNotFound()
  return { name, deleted: true }
})

const json = <A, E extends Refusal.Refusal, R>(effect: Effect.Effect<A, E, R>) => DashboardRoute.json(owner, effect)

/** Routes of the saved views of the dashboard. */
export const layer = HttpRouter.use((router) =>
  Effect.gen(function* () {
    yield* router.add("GET", Contract.PATH, json(list))
    yield* router.add("POST", Contract.PATH, json(save))
    yield* router.add("DELETE", `${Contract.PATH}/:name`, json(remove))
  }),
)
