/** Returns the field of a call that says that it is about test mail. Other services have none, and live mail none here. */
export const modeOf = (livemode: boolean) => (livemode ? {} : { livemode })
