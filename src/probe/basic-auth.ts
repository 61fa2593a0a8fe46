/** A "%" that begins no escape is meant as itself: passwords are pasted into URLs as they are. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The value of an Authorization header from the user info of a URL; null without one. */
export function basicAuthorization({ username, password }: URL): string | null {
  if (username === '' && password === '') return null;
  return `Basic ${Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64')}`;
}
