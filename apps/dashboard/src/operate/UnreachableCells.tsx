/** Says which cells did not answer, so that nobody takes a list for complete. */
export const UnreachableCells = ({ names }: { readonly names: ReadonlyArray<string> }) =>
  names.length === 0 ? undefined : (
    <p role="status" className="bg-warn-soft px-4 py-2 text-sm text-warn">
      {names.length === 1
        ? `The cell ${names[0]} does not answer. Its accounts are missing here.`
        : `The cells ${names.join(", ")} do not answer. Their accounts are missing here.`}
    </p>
  )
