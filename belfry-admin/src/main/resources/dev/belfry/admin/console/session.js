// Signing in and out. The token is sent once; after that a cookie that no script can read stands for it.

/** What every request of this page has and no form and no other site can send. */
export const MARK = {'Belfry-Console': '1'};

const find = id => document.getElementById(id);

/** How long a host may say nothing before it counts as gone, in milliseconds. */
export const PATIENCE = 5000;

/** Whether somebody is signed in, how to sign in, and what may be done. */
export async function askSession() {
  const answer = await fetch('/console/session', {headers: MARK, signal: AbortSignal.timeout(PATIENCE)});
  if (!answer.ok) {
    throw new Error((await answer.json()).message);
  }
  return answer.json();
}

/** Shows the form; done is called when it was filled in correctly. */
export function showLogin(method, message, done) {
  const form = find('login').querySelector('form');
  const byName = method === 'basic';
  const byCertificate = method === 'mtls';
  find('login').hidden = false;
  find('login-user').hidden = !byName;
  find('login-secret').hidden = byCertificate;
  find('login-send').hidden = byCertificate;
  find('login-secret').firstElementChild.textContent = byName ? 'Password' : 'Token';
  find('login-hint').textContent = byCertificate
    ? 'This host wants a client certificate that is on its list. Install one in the browser and load the page again.'
    : byName ? 'Sign in with the name and password of the admin surface.' : 'Sign in with the admin token of this host.';
  find('login-error').textContent = message;
  form.onsubmit = async event => {
    event.preventDefault();
    find('login-error').textContent = '';
    find('login-send').disabled = true;
    const problem = await login(credentials(form, byName));
    find('login-send').disabled = false;
    if (problem) {
      find('login-error').textContent = problem;
      form.secret.select();
      return;
    }
    form.reset();
    find('login').hidden = true;
    done();
  };
  (byName ? form.username : form.secret).focus();
}

function credentials(form, byName) {
  const secret = form.secret.value.trim();
  if (!byName) {
    return `Bearer ${secret}`;
  }
  const bytes = new TextEncoder().encode(`${form.username.value}:${secret}`);
  return `Basic ${btoa(String.fromCharCode(...bytes))}`;
}

/** Returns what is wrong, or nothing. */
async function login(authorization) {
  if (!/^[ -~]*$/.test(authorization)) { // fetch would throw, as it does when nobody answers
    return 'That is not a token.';
  }
  try {
    const answer = await fetch('/console/login', {
      method: 'POST',
      headers: {...MARK, Authorization: authorization},
    });
    if (answer.status === 401) {
      return 'That is not it.';
    }
    return answer.ok ? '' : (await answer.json()).message;
  } catch (error) {
    return `The host does not answer (${error.message}).`;
  }
}

export async function logout() {
  await fetch('/console/logout', {method: 'POST', headers: MARK});
}
