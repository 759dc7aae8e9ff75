// What looks like a secret. Guarantees: keys, tokens and passwords of the usual forms are taken out of a text, wherever they stand.
// Must not know: where the text is from, where it goes.

const looks =
  /\b(sk-[\w-]{8,}|gh[a-z]_\w{16,}|xox[a-z]-[\w-]{8,}|AKIA\w{12,}|eyJ[\w-]{10,}\.[\w-]+\.[\w-]+)|\b(Bearer|Basic)\s+\S+|(:\/\/[^/\s:@]+:)[^/\s@]+@/g;

/** The text with `[secret]` for what looks like one. */
export const withoutSecrets = (text: string): string => text.replace(looks, '[secret]');
