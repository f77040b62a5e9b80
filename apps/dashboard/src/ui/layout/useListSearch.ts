import { useNavigate, useSearch } from "@tanstack/react-router"
import { defined } from "../../api/defined.ts"
import { useTypedText } from "../controls/SearchField.tsx"

type Search<Name extends string> = { readonly new?: true } & { readonly [N in Name | "q"]?: string }

export type ListSearch = Pick<ReturnType<typeof useListSearch>, "clear" | "isFiltered" | "setCreating" | "typed">

/** The search parameters of a list: its filters, and whether the dialog that creates a record is open. */
export const useListSearch = <Name extends string = never>() => {
  const found: object = useSearch({ strict: false })
  const search = found as Search<Name>
  const navigate = useNavigate()
  const change = (next: { readonly [N in Name | "q" | "new"]?: string | true | undefined }) =>
    void navigate({ to: ".", search: (current: object) => defined({ ...current, ...next }) as never, replace: true })
  return {
    search,
    typed: useTypedText(search.q ?? "", (text) => change({ q: text } as never)),
    isFiltered: Object.keys(search).some((name) => name !== "new"),
    clear: () => void navigate({ to: ".", search: {} as never, replace: true }),
    isCreating: search.new === true,
    setCreating: (isCreating: boolean) => change({ new: isCreating ? true : undefined } as never),
    /** Properties of the filter of a name. */
    filter: (name: Name) => ({
      value: search[name] as string | undefined,
      onChange: (value: string | undefined) => change({ [name]: value } as never),
    }),
  }
}
