//! What HTTP answers: a request in, its answer out. Errors are objects of JSON with the member `error`.

use std::borrow::Cow;
use std::io::{self, Write};
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{
    AUTHORIZATION, CONTENT_TYPE, ETAG, HOST, HeaderName, HeaderValue, IF_NONE_MATCH, ORIGIN,
};
use hyper::{Method, Request, Response, StatusCode, Uri};
use serde::Serialize;

use super::answers::{json_line, write_error};
use super::http_body::{HttpBody, HttpParts, PART};
use super::metrics;
use super::questions::{BodyForm, QuestionError, Questions};
use super::session::ClientSession;
use super::state::{FollowState, Health};
#[cfg(feature = "tls")]
use super::tls::HttpTls;

/// How much of a body is read before its answer begins: who sends less may send all of it before reading.
const AHEAD: usize = 1 << 20;
/// A client loses an image that is old after this time.
const PATIENCE: Duration = Duration::from_secs(10);

const TEXT: &str = "text/plain; charset=utf-8";
const METRICS: &str = "text/plain; version=0.0.4";
const JSON: &str = "application/json";
const JSON_LINES: &str = "application/x-ndjson";
const IMAGE: &str = "application/octet-stream";

/// Who the client may be.
#[derive(Clone)]
pub(super) enum Trust {
    /// A user that may open the Unix socket.
    Own,
    /// Anybody on the network, or a browser that a web page has directed here.
    Network(Arc<HttpAccess>),
}

/// What the listener asks of its clients.
#[derive(PartialEq)]
pub(super) struct HttpAccess {
    /// Names of this host besides its addresses.
    pub(super) hosts: Vec<String>,
    /// Requests have one of them, if there are any.
    pub(super) tokens: Vec<String>,
    #[cfg(feature = "tls")]
    pub(super) tls: Option<HttpTls>,
}

impl HttpAccess {
    /// Whether the request has a token. How long it takes does not tell how much of one is right.
    fn admits<B>(&self, request: &Request<B>) -> bool {
        let given = request.headers().get(AUTHORIZATION);
        let given = given.and_then(|given| given.as_bytes().strip_prefix(b"Bearer "));
        let is_given = |token: &&String| {
            let given = given.unwrap_or_default();
            let differences = given
                .iter()
                .zip(token.bytes())
                .fold(0, |all, (a, b)| all | a ^ b);
            given.len() == token.len() && differences == 0
        };
        self.tokens.is_empty() || self.tokens.iter().filter(is_given).count() > 0
    }
}

/// Why a request has no answer.
type Refusal = (StatusCode, &'static str);

/// A table and its sizes as JSON.
#[derive(Serialize)]
struct HttpTable<'a> {
    name: &'a str,
    ipv4: HttpFamilySize,
    ipv6: HttpFamilySize,
}

#[derive(Serialize)]
struct HttpFamilySize {
    prefixes: usize,
    paths: usize,
}

/// Answers a request.
pub(super) async fn answer(
    state: &Arc<FollowState>,
    request: Request<Incoming>,
    trust: &Trust,
) -> Response<HttpBody> {
    let answer = match trust {
        // A web page of another site may not read this in a visitor's browser, nor by a name of its own that resolves to this host.
        Trust::Network(access) if !is_own(&request, access) => {
            Err((StatusCode::FORBIDDEN, "this host name is not allowed"))
        }
        Trust::Network(access) if !access.admits(&request) && request.uri().path() != "/health" => {
            Err((StatusCode::UNAUTHORIZED, "no token that is known"))
        }
        _ => match HttpQuery::of(&request).wrong(&request) {
            Some(reason) => return refused(StatusCode::BAD_REQUEST, &reason),
            None => route(state, request).await,
        },
    };
    answer.unwrap_or_else(|(status, error)| refused(status, error))
}

fn refused(status: StatusCode, error: &str) -> Response<HttpBody> {
    let mut answer = whole(JSON, json_line(&serde_json::json!({ "error": error })));
    *answer.status_mut() = status;
    answer
}

/// Whether the request's `Host`, and the `Origin` that a browser adds for another page, are addresses or `localhost`, and so no
/// names that another site could give this host, or that the settings know.
fn is_own<B>(request: &Request<B>, access: &HttpAccess) -> bool {
    let is_own = |host: &str| {
        let host = host.parse().ok();
        host.as_ref().and_then(Uri::host).is_some_and(|host| {
            let is_known = |name: &String| name.eq_ignore_ascii_case(host);
            host == "localhost"
                || access.hosts.iter().any(is_known)
                || host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok()
        })
    };
    let is_allowed = |name: HeaderName| {
        let mut values = request.headers().get_all(name).iter();
        values.all(|value| value.to_str().is_ok_and(is_own))
    };
    is_allowed(HOST) && is_allowed(ORIGIN)
}

async fn route(
    state: &Arc<FollowState>,
    request: Request<Incoming>,
) -> Result<Response<HttpBody>, Refusal> {
    let path = request.uri().path().to_owned();
    match (request.method(), &path[..]) {
        (&Method::GET | &Method::HEAD, "/health") => {
            let health = state.health();
            let mut answer = whole(TEXT, health.text());
            if health == Health::Loading {
                *answer.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
            }
            Ok(answer)
        }
        (&Method::GET | &Method::HEAD, "/metrics") => written(state, METRICS, metrics::write),
        (&Method::GET | &Method::HEAD, "/v1/openapi.json") => {
            Ok(whole(JSON, include_str!("openapi.json")))
        }
        (&Method::GET | &Method::HEAD, "/v1/tables") => written(state, JSON_LINES, tables),
        (&Method::GET | &Method::HEAD, "/v1/paths") => {
            let query = HttpQuery::of(&request);
            let mut session = query.session(state)?;
            let prefix = query.get("prefix").and_then(|prefix| prefix.parse().ok());
            let prefix = prefix.ok_or((StatusCode::BAD_REQUEST, "no prefix"))?;
            let table = session.live_table(state);
            let table = table.map_err(|error| (StatusCode::NOT_FOUND, error))?;
            written(state, JSON_LINES, move |state, to| {
                state.each_path(&table, prefix, |path| to.write_all(&json_line(path)))
            })
        }
        (&Method::GET | &Method::HEAD, "/v1/image") => image(state, &request),
        (&Method::GET | &Method::HEAD, "/v1/lookup") => lookup(state, &request),
        (&Method::POST, "/v1/lookup") => lookup_many(state, request).await,
        (_, "/v1/lookup") => Err((StatusCode::METHOD_NOT_ALLOWED, "GET or POST")),
        (
            _,
            "/health" | "/metrics" | "/v1/tables" | "/v1/paths" | "/v1/image" | "/v1/openapi.json",
        ) => Err((StatusCode::METHOD_NOT_ALLOWED, "GET")),
        _ => Err((
            StatusCode::NOT_FOUND,
            "no such path; /v1/openapi.json lists them",
        )),
    }
}

/// The parameters of a request, in order.
struct HttpQuery<'r>(Vec<(Cow<'r, str>, Cow<'r, str>)>);

impl<'r> HttpQuery<'r> {
    fn of<B>(request: &'r Request<B>) -> Self {
        let query = request.uri().query().unwrap_or_default();
        Self(form_urlencoded::parse(query.as_bytes()).collect())
    }

    /// What is wrong with its names: a parameter that is mistyped must not be answered as if it had not been given.
    fn wrong<B>(&self, request: &Request<B>) -> Option<String> {
        let known: &[&str] = match (request.uri().path(), request.method()) {
            ("/v1/lookup", &Method::POST) => &["table", "columns"],
            ("/v1/lookup", _) => &["address", "table", "columns"],
            ("/v1/paths", _) => &["prefix", "table"],
            ("/v1/image", _) => &["table"],
            ("/v1/tables" | "/v1/openapi.json", _) => &[],
            _ => return None,
        };
        let mut names = self.0.iter().map(|(name, _)| name).enumerate();
        names.find_map(|(index, name)| {
            if !known.contains(&&**name) {
                let all = known.is_empty().then(|| "none".to_owned());
                let all = all.unwrap_or_else(|| known.join(", "));
                Some(format!("{name}: no such parameter; there are {all}"))
            } else if self.0[..index].iter().any(|(before, _)| before == name) {
                Some(format!("{name} is given twice"))
            } else {
                None
            }
        })
    }

    fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| &value[..])
    }

    /// A client of the table that the request names.
    fn session(&self, state: &FollowState) -> Result<ClientSession, Refusal> {
        let mut session = ClientSession::new(state);
        if let Some(table) = self.get("table")
            && !session.choose(state, table)
        {
            return Err((StatusCode::NOT_FOUND, "no such table"));
        }
        if let Some(columns) = self.get("columns") {
            let selected = session.select(state, columns);
            selected.map_err(|error| (StatusCode::BAD_REQUEST, error))?;
        }
        Ok(session)
    }
}

fn answer_of(kind: &'static str, body: HttpBody) -> Response<HttpBody> {
    let mut answer = Response::new(body);
    answer
        .headers_mut()
        .insert(CONTENT_TYPE, kind.parse().expect("ASCII"));
    answer
}

fn whole(kind: &'static str, body: impl Into<Bytes>) -> Response<HttpBody> {
    answer_of(kind, HttpBody::Whole(body.into()))
}

/// A long answer, which a place is needed for.
fn parts(
    state: &FollowState,
    kind: &'static str,
) -> Result<(HttpParts, Response<HttpBody>), Refusal> {
    let place = state.http_answers.clone().try_acquire_owned();
    let place = place.map_err(|_| (StatusCode::SERVICE_UNAVAILABLE, "too many clients"))?;
    let (parts, body) = HttpParts::new(place);
    Ok((parts, answer_of(kind, body)))
}

/// The same, which a thread writes.
fn written(
    state: &Arc<FollowState>,
    kind: &'static str,
    write: impl FnOnce(&FollowState, &mut HttpParts) -> io::Result<()> + Send + 'static,
) -> Result<Response<HttpBody>, Refusal> {
    let (parts, answer) = parts(state, kind)?;
    let state = state.clone();
    let started = parts.write(move |to| write(&state, to));
    started.map_err(|_| (StatusCode::SERVICE_UNAVAILABLE, "no thread can be started"))?;
    Ok(answer)
}

/// The state of the table that is asked, as a tag; another process counts from another number.
fn tag(state: &FollowState, session: &ClientSession) -> HeaderValue {
    let tag = format!("\"{:x}-{}\"", state.number, session.version());
    tag.parse().expect("ASCII")
}

/// An answer with the tag of its table, or that the client has it.
fn tagged(
    tag: HeaderValue,
    request: &Request<Incoming>,
    answer: impl FnOnce() -> Result<Response<HttpBody>, Refusal>,
) -> Result<Response<HttpBody>, Refusal> {
    let mut known = request.headers().get_all(IF_NONE_MATCH).iter();
    let mut answer = match known.any(|known| known == tag) {
        true => {
            let mut answer = whole(TEXT, "");
            *answer.status_mut() = StatusCode::NOT_MODIFIED;
            answer
        }
        false => answer()?,
    };
    answer.headers_mut().insert(ETAG, tag);
    Ok(answer)
}

fn lookup(state: &FollowState, request: &Request<Incoming>) -> Result<Response<HttpBody>, Refusal> {
    let query = HttpQuery::of(request);
    let mut session = query.session(state)?;
    let text = query.get("address");
    let text = text.ok_or((StatusCode::BAD_REQUEST, "no address"))?;
    let address = text.parse();
    let address = address.map_err(|_| (StatusCode::BAD_REQUEST, "not an IP address"))?;
    session.open(state);
    tagged(tag(state, &session), request, || {
        let mut body = Vec::new();
        session.answer(state, BodyForm::JsonLines, address, &mut body);
        body.push(b'\n');
        Ok(whole(JSON, body))
    })
}

/// Answers the addresses of a body, in their order.
async fn lookup_many(
    state: &Arc<FollowState>,
    request: Request<Incoming>,
) -> Result<Response<HttpBody>, Refusal> {
    let mut session = HttpQuery::of(&request).session(state)?;
    let mut body = request.into_body();
    let broken = |_| (StatusCode::BAD_REQUEST, "the body is broken off");
    let mut first = Vec::new();
    let mut is_whole = false;
    while first.len() < AHEAD && !is_whole {
        match next_part(&mut body).await.map_err(broken)? {
            Some(part) => first.extend_from_slice(&part),
            None => is_whole = true,
        }
    }
    let questions = Questions::new(first, is_whole);
    let kind = match questions.form {
        BodyForm::Lines => TEXT,
        BodyForm::JsonLines => JSON_LINES,
        BodyForm::JsonList => JSON,
    };
    let (to, mut answer) = parts(state, kind)?;
    session.open(state);
    answer.headers_mut().insert(ETAG, tag(state, &session));
    let state = state.clone();
    // A client that has gone is no error.
    tokio::spawn(async move { answer_many(&state, session, questions, body, to).await });
    Ok(answer)
}

/// Answers addresses as they come.
async fn answer_many(
    state: &FollowState,
    mut session: ClientSession,
    mut questions: Questions,
    mut body: Incoming,
    mut to: HttpParts,
) -> io::Result<()> {
    let form = questions.form;
    let mut before = match form {
        BodyForm::JsonList => &b"["[..],
        _ => b"",
    };
    loop {
        while let Some(question) = questions.next() {
            let part = &mut to.part;
            part.extend_from_slice(before);
            let address = question.and_then(|text| {
                let wrong = |_| QuestionError::Address(text.to_string());
                text.parse().map_err(wrong)
            });
            match address {
                Ok(address) => session.answer(state, form, address, part),
                Err(error) => write_error(part, form, &error),
            }
            match form {
                BodyForm::JsonList => before = b",\n",
                _ => part.push(b'\n'),
            }
            to.send_long().await?;
        }
        if questions.is_whole {
            break;
        }
        let part = next_part(&mut body).await.map_err(io::Error::other)?;
        questions.push(part.as_deref());
    }
    if form == BodyForm::JsonList {
        let part = &mut to.part;
        part.extend_from_slice(if before == b"[" { before } else { b"" });
        part.extend_from_slice(b"]\n");
    }
    to.finish().await
}

/// The next bytes of a body; `None` at its end.
async fn next_part(body: &mut Incoming) -> Result<Option<Bytes>, hyper::Error> {
    loop {
        let frame = std::future::poll_fn(|context| Pin::new(&mut *body).poll_frame(context)).await;
        match frame.transpose()?.map(|frame| frame.into_data()) {
            Some(Ok(part)) => return Ok(Some(part)),
            Some(Err(_trailers)) => {}
            None => return Ok(None),
        }
    }
}

fn tables(state: &FollowState, to: &mut HttpParts) -> io::Result<()> {
    state.each_table(|table| {
        let [ipv4, ipv6] = [0, 1].map(|family| HttpFamilySize {
            prefixes: table.prefixes[family],
            paths: table.paths[family],
        });
        let name = &table.name;
        to.write_all(&json_line(&HttpTable { name, ipv4, ipv6 }))
    })
}

/// The table as an image. The client's version is compared before one is made.
fn image(
    state: &Arc<FollowState>,
    request: &Request<Incoming>,
) -> Result<Response<HttpBody>, Refusal> {
    let mut session = HttpQuery::of(request).session(state)?;
    session.open(state);
    tagged(tag(state, &session), request, || {
        written(state, IMAGE, move |state, to| {
            let image = session.image(state).map_err(io::Error::other)?;
            // One that is not read must not stay in memory while later ones are made.
            image
                .bytes
                .chunks(PART)
                .try_for_each(|part| match image.is_old_for(PATIENCE) {
                    true => Err(io::ErrorKind::TimedOut.into()),
                    false => to.write_all(part),
                })
        })
    })
}
