import * as Contract from "@waybill/api/schemas/SavedView"
import * as Refusal from "@waybill/domain/values/Refusal"
import * as SavedViews from "@waybill/store/users/SavedViews"
import { Effect } from "effect"
import { HttpRouter } from "effect/http"
import * as DashboardRoute from "./DashboardRoute.ts"

class TooManyViews extends Refusal.of("TooManyViews", 422, "too_many_views") {
  override readonly message = `You have ${SavedViews.MAX_VIEWS} saved views, the maximum. Delete one to save another.`
}

class ViewNotFound extends Refusal.of("ViewNotFound", 404, "view_not_found") {
  override readonly message = "You have no saved view with this name."
}

const list = Effect.map(Effect.flatMap(DashboardRoute.user, SavedViews.list), (data) => ({ data }))

const save = Effect.gen(function* () {
  const view = yield* DashboardRoute.bodyOf(Contract.SavedView)
  if (!(yield* SavedViews.save(yield* DashboardRoute.user, view))) return yield* new TooManyViews()
  return view
})

const remove = Effect.gen(function* () {
  const { name = "" } = yield* HttpRouter.params
  if (!(yield* SavedViews.remove(yield* DashboardRoute.user, name))) return yield* new ViewNotFound()
  return { name, deleted: true }
})

const json = <A, E extends Refusal.Refusal, R>(effect: Effect.Effect<A, E, R>) =>
  DashboardRoute.json(DashboardRoute.user, effect)

/** Routes of the saved views of the dashboard. */
export const layer = HttpRouter.use((router) =>
  Effect.gen(function* () {
    yield* router.add("GET", Contract.PATH, json(list))
    yield* router.add("POST", Contract.PATH, json(save))
    yield* router.add("DELETE", `${Contract.PATH}/:name`, json(remove))
  }),
)
